"""Changes the metadata of one or several files. The files themselves are unchanged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import EllipsisType
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from media import search
from media.metadata import (
    FocalPoint,
    clean_alt_text,
    clean_alt_texts,
    clean_categories,
    clean_description,
    clean_focal_point,
)
from media.models import Asset
from media.scopes import filter_visible_assets, require_changeable, visible_assets
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.caching.content_tags import tag_of_media
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom.core.json import JsonObject

_METADATA = (
    "alt_text", "alt_texts", "is_decorative", "description", "categories", "focal_x", "focal_y",
)  # fmt: skip


@transaction.atomic
def update_asset(
    *,
    asset_id: UUID | str,
    actor: Actor,
    alt_text: str | None = None,
    alt_texts: Mapping[str, str] | None = None,
    is_decorative: bool | None = None,
    categories: Sequence[str] | None = None,
    description: str | None = None,
    focal_point: FocalPoint | EllipsisType | None = ...,
) -> Asset:
    """Change the given values. `None` leaves texts unchanged; for the focal point `...` leaves it and None resets
    it.

    `alt_texts` changes only the named languages. Setting an alternative text removes `is_decorative`. Pages
    show changes immediately. Raises `NotAllowed`, `NotFound`, or `RuleViolation` by field.
    """
    actor.require_person("edit media")
    actor.require("media.edit")
    asset = lock_asset(asset_id, actor)
    before = {name: getattr(asset, name) for name in _METADATA}
    old_texts = (asset.alt_text, asset.alt_texts)
    if alt_text is not None:
        asset.alt_text = clean_alt_text(alt_text)
    if alt_texts is not None:
        asset.alt_texts = clean_alt_texts(alt_texts, asset.alt_texts)
    if is_decorative is not None:
        asset.is_decorative = is_decorative
    elif (asset.alt_text, asset.alt_texts) != old_texts and (asset.alt_text or asset.alt_texts):
        asset.is_decorative = False
    if description is not None:
        asset.description = clean_description(description)
    if categories is not None:
        asset.categories = clean_categories(categories)
    if not isinstance(focal_point, EllipsisType):
        point = clean_focal_point(focal_point) if focal_point is not None else (None, None)
        asset.focal_x, asset.focal_y = point
    changed = [name for name in _METADATA if getattr(asset, name) != before[name]]
    if not changed:
        return asset
    asset.save(update_fields=[*changed, "updated_at"])
    search.index_assets([asset])
    payload: JsonObject = {"id": str(asset.pk), "filename": asset.filename, "changed": [*changed]}
    outbox.record("media.updated", actor=actor, payload=payload, tags=[tag_of_media(asset.pk)])
    return asset


@transaction.atomic
def categorize(
    *,
    asset_ids: Collection[UUID],
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    actor: Actor,
) -> list[Asset]:
    """Add and remove categories of these files: of all, or of none.

    Raises `NotAllowed`, `NotFound`, or `RuleViolation` on `categories`.
    """
    actor.require_person("edit media")
    actor.require("media.edit")
    added, removed = clean_categories(add), set(clean_categories(remove))
    changed = []
    # Locked in order of ids, so that two concurrent calls can't deadlock.
    for id_ in sorted(asset_ids):
        remaining = [word for word in lock_asset(id_, actor).categories if word not in removed]
        changed.append(update_asset(asset_id=id_, categories=[*remaining, *added], actor=actor))
    return changed


def lock_asset(asset_id: UUID | str, actor: Actor) -> Asset:
    """Return the asset, locked until the end of the transaction.

    Raises `NotFound`, and `NotAllowed` if something outside the actor's scope uses it.
    """
    found = find_by_id(Asset.objects.select_for_update(), asset_id)
    if found is None or not filter_visible_assets({"": found}, actor):
        raise _unknown(asset_id)
    require_changeable(found, actor)
    return found


def find_asset(asset_id: UUID | str, actor: Actor) -> Asset:
    """Return the asset without a lock. Raises `NotFound` if it doesn't exist or is not visible."""
    found = find_by_id(visible_assets(Asset.objects.all(), actor), asset_id)
    if found is None:
        raise _unknown(asset_id)
    return found


def _unknown(asset_id: UUID | str) -> NotFound:
    return NotFound(
        _("No file has the ID %(asset_id)r.") % {"asset_id": str(asset_id)[:40]},
        code="unknown_media",
    )
