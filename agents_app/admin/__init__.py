"""Agents in the admin: the panel on a post's page, the runs, progress. Importing it registers them."""

from agents_app.admin import panel, runs

__all__ = ["panel", "runs"]
