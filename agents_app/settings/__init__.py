"""Settings that hold for all agents."""
