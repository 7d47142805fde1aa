"""The inbox: every change that waits for a person."""
