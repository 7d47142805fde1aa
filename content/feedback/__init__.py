"""Feedback on posts."""
