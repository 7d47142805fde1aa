"""The public site: its pages, what surrounds them, and how modules become HTML."""
