"""The quality of agents and AI clients, measured by what people decided on their proposals."""
