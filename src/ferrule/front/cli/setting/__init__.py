"""What is set up around tasks: configuration, trust, a first AGENTS.md, worktrees."""
