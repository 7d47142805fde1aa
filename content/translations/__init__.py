"""Translations of posts, and which of their values are older than the source."""
