"""The admin of content. Importing it registers every class."""

from content.admin import menu, post, shared, term

__all__ = ["menu", "post", "shared", "term"]
