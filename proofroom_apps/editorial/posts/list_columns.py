"""List columns and filters that show types by their labels."""

from __future__ import annotations

from typing import Protocol

from django.contrib import admin
from django.utils.translation import gettext_lazy

from content.document.labels import module_label, type_label
from proofroom.core.admin.labels import LabelFilter


class OfAType(Protocol):
    """A row with a type."""

    type: str


@admin.display(description=gettext_lazy("Type"), ordering="type")
def post_type(row: OfAType) -> str:
    """Return the post type column of a row."""
    return type_label(row.type)


@admin.display(description=gettext_lazy("Type"), ordering="type")
def module_type(row: OfAType) -> str:
    """Return the module type column of a row."""
    return module_label(row.type)


class PostTypeFilter(LabelFilter):
    def label(self, value: str) -> str:
        return type_label(value)
