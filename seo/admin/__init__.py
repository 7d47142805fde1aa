"""The admin of redirects and search engine settings. Importing it registers every class."""

from seo.admin import redirects

__all__ = ["redirects"]
