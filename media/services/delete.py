"""Delete: the asset and its files are gone; what is in use is kept, unless somebody insists."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import ngettext

from media import file_store
from media.models import StoredFile
from media.services.update import lock_asset
from media.usage_sources import places_of
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict
from proofroom.core.json import JsonObject


@transaction.atomic
def delete_asset(*, asset_id: UUID | str, actor: Actor, force: bool = False) -> None:
    """Delete an asset; its files go after the commit. Pages that used it show no image there.

    Raises `NotAllowed`, `NotFound`, or `Conflict` (`media_in_use`, the places in `details`) unless forced.
    """
    actor.require_person("delete media")
    actor.require("media.delete")
    asset = lock_asset(asset_id)
    places = places_of(asset, actor)
    if places.total and not force:
        sentence = ngettext(
            "The file is in use in one place.", "The file is in use in %(n)s places.", places.total
        )
        raise Conflict(
            sentence % {"n": places.total},
            code="media_in_use",
            details={"usedIn": [place.sentence for place in places.named]},
        )
    files = StoredFile.objects.filter(asset=asset)
    files.filter(is_deleted=True).delete()
    file_store.release_files([*files.values_list("name", flat=True)], timezone.now())
    payload: JsonObject = {"id": str(asset.pk), "filename": asset.filename, "places": places.total}
    asset.delete()
    outbox.record("media.deleted", actor=actor, payload=payload)
