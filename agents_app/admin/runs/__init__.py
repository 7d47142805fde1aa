"""Runs: the list, a page for each, and what can be done with them."""
