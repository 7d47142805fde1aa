"""Categories of several files at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import transaction

from media.metadata import clean_categories
from media.models import Asset
from media.services.update import lock_asset, update_asset
from proofroom.core.actor import Actor


@transaction.atomic
def categorize(
    *,
    asset_ids: Collection[UUID],
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    actor: Actor,
) -> list[Asset]:
    """Give these files categories and take others away: all of them, or none.

    Raises `NotAllowed`, `NotFound`, or `RuleViolation` on `categories`.
    """
    actor.require_person("edit media")
    actor.require("media.edit")
    added, removed = clean_categories(add), set(clean_categories(remove))
    # In one order, so that two who do it at once wait for each other instead of for ever.
    return [_changed(id_, added, removed, actor) for id_ in sorted(asset_ids)]


def _changed(asset_id: UUID, added: list[str], removed: set[str], actor: Actor) -> Asset:
    kept = [word for word in lock_asset(asset_id).categories if word not in removed]
    return update_asset(asset_id=asset_id, categories=[*kept, *added], actor=actor)
