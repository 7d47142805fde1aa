"""Replace: another file under the same id. Places that use it show the new one."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from media import file_store, search
from media.metadata import clean_filename
from media.models import Asset, StoredFile, Theme
from media.services.store import Readable, read_file, use_file
from media.services.update import find_asset, lock_asset
from media.services.variants import queue_variants
from proofroom.core import outbox
from proofroom.core.actor import Actor

OLD_FILE_LIFETIME: Final = timedelta(days=1)
"""How long the old files stay, for pages that browsers keep; later their names lead to the new one."""


def replace_file(*, asset_id: UUID | str, file: Readable, filename: str, actor: Actor) -> Asset:
    """Give the asset another file, also of another type. What is said of it stays, as does the focal point.

    Not to be called in a transaction. Raises `NotAllowed`, `NotFound`, and what `store_image` raises; then all is as
    it was.
    """
    actor.require_person("replace files")
    actor.require("media.edit")
    find_asset(asset_id)  # before the file is read
    name = clean_filename(filename)
    cleaned = read_file(file)
    with file_store.new_file(cleaned.suffix, cleaned.content) as path, transaction.atomic():
        asset = lock_asset(asset_id)
        before, is_dark = asset.filename, bool(asset.dark_variants)
        is_dark = is_dark or asset.works.filter(theme=Theme.DARK).exists()
        in_use = StoredFile.objects.filter(asset=asset, due_at=None, is_deleted=False)
        file_store.release_files(
            [*in_use.values_list("name", flat=True)], timezone.now() + OLD_FILE_LIFETIME
        )
        asset.works.all().delete()
        asset.filename = name
        use_file(asset, path, cleaned)
        asset.save()
        search.index_assets([asset])
        file_store.take([path], asset)
        queue_variants(asset)
        if is_dark:
            queue_variants(asset, Theme.DARK)
        payload = {"id": str(asset.pk), "filename": name, "mime": asset.mime, "before": before}
        outbox.record("media.replaced", actor=actor, payload={**payload})
    return asset
