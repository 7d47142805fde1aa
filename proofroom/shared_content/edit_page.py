"""What the page with the form of a global module, a menu or a term shows around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.core.hooks import ExtensionPoint
from proofroom.shared_content.kinds import SharedKind, SharedRow

PageFacts = Callable[[HttpRequest, SharedKind, SharedRow], Mapping[str, object]]
edit_page_facts: ExtensionPoint[PageFacts] = ExtensionPoint()
"""What apps above add to the page, by the names that its template reads."""


@dataclass(frozen=True, slots=True)
class SharedTab:
    """A page of the row; `name` tells which one is open."""

    name: str
    label: str
    url: str


def tabs_of(kind: SharedKind, row: SharedRow) -> list[SharedTab]:
    """The pages of a row. No query."""
    meta = kind.model._meta
    change = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    pages = reverse("admin:shared-pages", args=[kind.name, row.pk])
    history = reverse("admin:shared-history", args=[kind.name, row.pk])
    return [
        SharedTab("edit", _("Edit"), change),
        SharedTab("pages", _("Pages"), pages),
        SharedTab("history", _("History"), history),
    ]


def edit_page_context(request: HttpRequest, kind: SharedKind, row: SharedRow) -> dict[str, object]:
    """The tabs, and what apps have registered."""
    context: dict[str, object] = {"shared_tabs": tabs_of(kind, row)}
    for facts in edit_page_facts:
        context.update(facts(request, kind, row))
    return context
