"""The admin of content. Importing it registers every class."""

from content.admin import (
    feedback,
    menu,
    module_group,
    post,
    replacement,
    shared,
    term,
    url_pattern,
)

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
