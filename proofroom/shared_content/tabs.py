"""The tabs of the pages of a global module, a menu or a term."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.shared_content.kinds import SharedKind, SharedRow


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
    return [
        SharedTab("edit", _("Edit"), change),
        SharedTab(
            "history", _("History"), reverse("admin:shared-history", args=[kind.name, row.pk])
        ),
    ]
