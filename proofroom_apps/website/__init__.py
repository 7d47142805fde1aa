"""The public site: its pages, their frame, and the rendering of modules to HTML."""
