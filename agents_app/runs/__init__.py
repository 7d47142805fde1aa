"""Runs of agents: created, executed, logged, ended, retried and undone."""
