"""Update: what a file says about itself. The file stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from uuid import UUID

from django.db import transaction

from core import events
from core.actor import Actor
from core.errors import NotFound
from core.json import JsonObject
from media import search
from media.describing import (
    FocalPoint,
    clean_alt_text,
    clean_categories,
    clean_description,
    clean_focal_point,
)
from media.models import Asset

_NAMES = ("alt_text", "description", "categories", "focal_x", "focal_y")


@transaction.atomic
def update_asset(
    *,
    asset_id: UUID | str,
    actor: Actor,
    alt_text: str | None = None,
    categories: Sequence[str] | None = None,
    description: str | None = None,
    focal_point: FocalPoint | EllipsisType | None = ...,
) -> Asset:
    """Change what is given; None leaves the words, `...` leaves the focal point (None: the middle again).

    Pages show the change at once. Raises `NotAllowed`, `NotFound`, or `RuleViolation` by field.
    """
    actor.require_person("edit media")
    actor.require("media.edit")
    asset = locked_asset(asset_id)
    before = {name: getattr(asset, name) for name in _NAMES}
    if alt_text is not None:
        asset.alt_text = clean_alt_text(alt_text)
    if description is not None:
        asset.description = clean_description(description)
    if categories is not None:
        asset.categories = clean_categories(categories)
    if not isinstance(focal_point, EllipsisType):
        point = clean_focal_point(focal_point) if focal_point is not None else (None, None)
        asset.focal_x, asset.focal_y = point
    changed = [name for name in _NAMES if getattr(asset, name) != before[name]]
    if not changed:
        return asset
    asset.save(update_fields=[*changed, "updated_at"])
    search.index([asset])
    payload: JsonObject = {"id": str(asset.pk), "filename": asset.filename, "changed": [*changed]}
    events.record("media.updated", actor=actor, payload=payload)
    return asset


def locked_asset(asset_id: UUID | str) -> Asset:
    """The asset, held until the transaction ends. Raises `NotFound`."""
    found = Asset.objects.select_for_update().filter(pk=_uuid(asset_id)).first()
    if found is None:
        raise _unknown(asset_id)
    return found


def find_asset(asset_id: UUID | str) -> Asset:
    """The asset, which may change at any time. Raises `NotFound`."""
    found = Asset.objects.filter(pk=_uuid(asset_id)).first()
    if found is None:
        raise _unknown(asset_id)
    return found


def _unknown(asset_id: UUID | str) -> NotFound:
    return NotFound(f"No file has the id {str(asset_id)[:40]!r}.", code="unknown_media")


def _uuid(asset_id: UUID | str) -> UUID:
    try:
        return asset_id if isinstance(asset_id, UUID) else UUID(str(asset_id))
    except ValueError:
        raise _unknown(asset_id) from None
