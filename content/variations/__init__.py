"""Variations of posts, and tests that show them to visitors."""
