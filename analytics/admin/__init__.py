"""Figures in the admin: what was looked at, and where visitors clicked. Importing it registers them."""

from analytics.admin import heatmap, post_lists, post_pages, summary, variations

__all__ = ["heatmap", "post_lists", "post_pages", "summary", "variations"]
