"""Search over posts."""
