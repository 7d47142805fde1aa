"""Reads of media that more than one caller needs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from media.models import Asset


def media_exists(id_: str) -> bool:
    return Asset.objects.filter(pk=id_).exists()


def assets(ids: Iterable[str]) -> dict[str, Asset]:
    """The assets of these ids, by id; what is no UUID or unknown is left out. One query, none for no ids."""
    wanted: set[UUID] = set()
    for id_ in ids:
        try:
            wanted.add(UUID(str(id_)))
        except ValueError:
            continue
    if not wanted:
        return {}
    return {str(asset.pk): asset for asset in Asset.objects.filter(pk__in=wanted)}


def list_assets(*, category: str = "", search: str = "") -> QuerySet[Asset]:
    """The assets of a category (exactly) whose name or description holds the words, newest first."""
    found = Asset.objects.order_by("-created_at", "-id")
    if category:
        found = found.filter(_in_category(category))
    for word in search.replace("\x00", "").split():
        found = found.filter(Q(filename__icontains=word) | Q(alt_text__icontains=word))
    return found


def _in_category(category: str) -> Q:
    if connection.features.supports_json_field_contains:
        return Q(categories__contains=[category])
    # SQLite cannot look into a list; its stored text holds every category in quotes.
    named = Asset.objects.alias(listed=Cast("categories", TextField()))
    return Q(pk__in=named.filter(listed__contains=json.dumps(category)).values("pk"))
