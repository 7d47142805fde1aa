"""Additions to Django's backends for the two databases."""
