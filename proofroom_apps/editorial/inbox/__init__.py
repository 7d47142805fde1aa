"""The inbox: all changes that wait for review."""
