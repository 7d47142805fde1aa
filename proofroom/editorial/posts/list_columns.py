"""Columns and filters of lists that say types by their labels."""

from __future__ import annotations

from typing import Protocol

from django.contrib import admin
from django.utils.translation import gettext_lazy

from content.review.labels import module_label, type_label
from proofroom.core.admin.labels import LabelFilter
from proofroom.core.i18n import in_words
from proofroom.definitions import post_types


class OfAType(Protocol):
    """A row that says its type."""

    type: str


@admin.display(description=gettext_lazy("Type"), ordering="type")
def post_type(row: OfAType) -> str:
    """The column for the type of post that a row is for."""
    return type_label(row.type)


@admin.display(description=gettext_lazy("Type"), ordering="type")
def module_type(row: OfAType) -> str:
    """The column for the type of a module."""
    return module_label(row.type)


class PostTypeFilter(LabelFilter):
    def label(self, value: str) -> str:
        return type_label(value)


def type_choices() -> list[tuple[str, str]]:
    """The types of posts to choose from."""
    return [(row.name, in_words(row.label)) for row in post_types]
