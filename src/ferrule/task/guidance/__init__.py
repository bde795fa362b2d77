"""What people wrote for agents to use again: instructions, rules, skills and slash commands. Found, ordered, and told."""
