"""The sitemap: read in one pass, written in parts, kept for five minutes."""
