"""Writes the tokens of AI clients."""
