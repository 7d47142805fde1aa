"""The admin of content. Importing it registers every class."""

from content.admin import feedback, menu, post, shared, term, url_pattern

__all__ = ["feedback", "menu", "post", "shared", "term", "url_pattern"]
