"""Definitions of agents: files in `agents/` folders, read, checked, switched on and off."""
