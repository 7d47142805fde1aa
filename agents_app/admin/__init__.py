"""Agents in the admin: beside fields, on posts, everywhere; runs and their progress. Importing it registers them."""

from agents_app.admin.agents import definitions
from agents_app.admin.batches import batch, bulk_run
from agents_app.admin.budgets import page
from agents_app.admin.run_dialog import field, panel
from agents_app.admin.runs import run_admin

__all__ = ["batch", "bulk_run", "definitions", "field", "page", "panel", "run_admin"]
