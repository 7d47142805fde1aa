"""Admin pages of agents, runs and AI settings. Importing the package registers them."""

from agents_app.admin import batches, post_pages
from agents_app.admin.agents import agent_admin
from agents_app.admin.budgets import ai_settings_admin
from agents_app.admin.quality import evaluation_admin
from agents_app.admin.runs import run_admin

__all__ = [
    "agent_admin",
    "ai_settings_admin",
    "batches",
    "evaluation_admin",
    "post_pages",
    "run_admin",
]
