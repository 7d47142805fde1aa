"""The admin of redirects and of what search engines are told. Importing it registers every class."""

from seo.admin import redirects

__all__ = ["redirects"]
