"""A run at work: what the agent is told, what it answers, what is staged."""
