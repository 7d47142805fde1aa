"""Agents in the admin: beside fields, on posts, everywhere; runs and their progress. Importing it registers them."""

from agents_app.admin import batches, bulk, definitions, field_page, money, panel, runs

__all__ = ["batches", "bulk", "definitions", "field_page", "money", "panel", "runs"]
