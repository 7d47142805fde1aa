"""Evaluations of versions of agents, and the promotion of a version."""
