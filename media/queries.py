"""Reads of media that more than one caller needs."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

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
