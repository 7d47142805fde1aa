"""Proposed alt texts in the inbox, for users who may accept them."""

from __future__ import annotations

from typing import Final

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from media.models import AltTextProposal
from media.services.alt_text_proposals import waiting_alt_texts
from proofroom.core.admin.permissions import actor_of, may

_MAX_SHOWN: Final = 50


def waiting_alt_text_rows(request: HttpRequest) -> QuerySet[AltTextProposal]:
    """Return the waiting proposals that the user may decide on."""
    rows = waiting_alt_texts(actor_of(request))
    return rows if may(request, "media.edit") else rows.none()


def alt_text_lines(request: HttpRequest) -> list[tuple[AltTextProposal, str]]:
    """Return the waiting proposals with the address where a person decides. One query."""
    return [
        (row, f"{reverse('admin:media_asset_change', args=[row.asset_id])}#alt-proposals")
        for row in waiting_alt_text_rows(request)[:_MAX_SHOWN]
    ]
