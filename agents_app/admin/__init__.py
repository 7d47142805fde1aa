"""Agents in the admin: beside fields, on posts, everywhere; runs and their progress. Importing it registers them."""

from agents_app.admin.agents import definitions
from agents_app.admin.asking import field, panel
from agents_app.admin.batches import batch, bulk
from agents_app.admin.money import page
from agents_app.admin.runs import run

__all__ = ["batch", "bulk", "definitions", "field", "page", "panel", "run"]
