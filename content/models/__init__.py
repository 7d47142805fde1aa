"""The rows of content."""

from content.models.draft import Draft, Layer
from content.models.menu import Menu
from content.models.module import ModuleInstance, PostModule
from content.models.post import Post, PostQuerySet, Status
from content.models.provenance import Provenance
from content.models.revision import Revision
from content.models.taxonomy import PostTerm, Term

__all__ = [
    "Draft",
    "Layer",
    "Menu",
    "ModuleInstance",
    "Post",
    "PostModule",
    "PostQuerySet",
    "PostTerm",
    "Provenance",
    "Revision",
    "Status",
    "Term",
]
