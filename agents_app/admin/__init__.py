"""Agents in the admin: beside fields, on posts, everywhere; runs and their progress. Importing it registers them."""

from agents_app.admin import field_page, panel, runs

__all__ = ["field_page", "panel", "runs"]
