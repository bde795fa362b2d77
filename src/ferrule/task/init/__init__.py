"""`ferrule init`: a first AGENTS.md from what can be seen of a project, without a model."""
