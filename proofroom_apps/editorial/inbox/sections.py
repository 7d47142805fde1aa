"""Sections that other apps add to the inbox, above the changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from proofroom.core.hooks import ExtensionPoint

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class InboxSection:
    """A section of the inbox. Override `show`, and register an instance at start.

    With `waiting` it also counts in the navigation, in the inbox and on Home, under its `label`.
    """

    name: ClassVar[str] = ""
    label: ClassVar[StrOrPromise] = ""

    def show(self, request: HttpRequest) -> SafeString:
        """Return the HTML of the section, empty if nothing waits."""
        return SafeString()

    def waiting(self, request: HttpRequest) -> QuerySet[Any] | None:
        """Return a row for each thing that waits for the reader, for the counts; None if nothing ever waits."""
        return None


inbox_sections: ExtensionPoint[InboxSection] = ExtensionPoint()


def show_sections(request: HttpRequest) -> list[SafeString]:
    """Return the sections in which something waits."""
    shown = [section.show(request) for section in inbox_sections]
    return [html for html in shown if html]


def waiting_sections(request: HttpRequest) -> Sequence[tuple[InboxSection, QuerySet[Any]]]:
    """Return the sections in which something can wait, with their rows."""
    found = [(section, section.waiting(request)) for section in inbox_sections]
    return [(section, rows) for section, rows in found if rows is not None]
