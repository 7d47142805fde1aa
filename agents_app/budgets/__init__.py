"""Budgets of agents: limits, usage, reservations and estimates."""
