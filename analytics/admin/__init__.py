"""The admin pages of analytics. Importing the package registers them."""

from analytics.admin import heatmap, post_lists, post_pages, summary, variations

__all__ = ["heatmap", "post_lists", "post_pages", "summary", "variations"]
