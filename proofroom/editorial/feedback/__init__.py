"""Feedback in the admin."""
