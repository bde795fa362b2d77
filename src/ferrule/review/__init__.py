"""Reviewing a diff: staging findings, the tools that do it, the built-in reviewer, and what is reported."""
