"""Update: what a file says about itself. The file stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from core import events
from core.actor import Actor
from core.errors import NotFound
from core.json import JsonObject
from media.models import Asset
from media.services.store import clean_alt_text, clean_categories


@transaction.atomic
def update_asset(
    *,
    asset_id: UUID | str,
    actor: Actor,
    alt_text: str | None = None,
    categories: Sequence[str] | None = None,
) -> Asset:
    """Change the description or the categories; None leaves them. Pages show the new description at once.

    Raises `NotAllowed`, `NotFound`, or `RuleViolation` by field.
    """
    actor.require_person("edit media")
    actor.require("media.edit")
    asset = Asset.objects.select_for_update().filter(pk=asset_id).first()
    if asset is None:
        raise NotFound(f"No file has the id {str(asset_id)!r}.", code="unknown_media")
    before = (asset.alt_text, asset.categories)
    if alt_text is not None:
        asset.alt_text = clean_alt_text(alt_text)
    if categories is not None:
        asset.categories = clean_categories(categories)
    if (asset.alt_text, asset.categories) == before:
        return asset
    asset.save(update_fields=["alt_text", "categories"])
    # Pages and answers hold the description, so what is cached of them is old now.
    payload: JsonObject = {
        "what": "media",
        "id": str(asset.pk),
        "did": "updated",
        "filename": asset.filename,
    }
    events.record("content.changed", actor=actor, payload=payload)
    return asset
