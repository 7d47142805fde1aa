"""The admin of content. Importing it registers every class."""

from content.admin import feedback, post, replacement, url_pattern
from content.admin.menus import menu
from content.admin.modules import module_group, shared
from content.admin.terms import term

__all__ = [
    "feedback",
    "menu",
    "module_group",
    "post",
    "replacement",
    "shared",
    "term",
    "url_pattern",
]
