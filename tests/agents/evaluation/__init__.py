"""Evaluations, champion and challenger."""
