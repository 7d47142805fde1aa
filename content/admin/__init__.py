"""The admin of content. Importing it registers every class."""

from content.admin import feedback, menu, post, shared, term

__all__ = ["feedback", "menu", "post", "shared", "term"]
