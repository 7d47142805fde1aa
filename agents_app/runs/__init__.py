"""Runs of agents: creation, execution, log, end, retry and undo."""
