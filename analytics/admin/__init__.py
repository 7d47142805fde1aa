"""Figures in the admin: what was looked at, and where visitors clicked. Importing it registers them."""

from analytics.admin import heatmap, summary, variations

__all__ = ["heatmap", "summary", "variations"]
