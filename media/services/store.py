"""Store: an uploaded or generated file becomes an asset, or leaves nothing behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final, Protocol

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from media import file_store, search
from media.images import Cleaned, clean, damaged_image_error
from media.metadata import clean_alt_text, clean_categories, clean_description, clean_filename
from media.models import Asset, AssetStatus
from media.services.variants import queue_variants
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, invalid

_PDF: Final = b"%PDF-"
_PDF_END: Final = b"%%EOF"
_PDF_TAIL: Final = 4096
"""Within how many bytes from its end a PDF says that it ends."""


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class TooLarge(CmsError):
    """More bytes than the site takes."""

    status = 413
    code = "too_large"


class AlreadyThere(Conflict):
    """The same file is in the media; `asset` is that one."""

    code = "media_already_there"

    def __init__(self, asset: Asset) -> None:
        super().__init__(_("The same file is there already: %(name)s.") % {"name": asset.filename})
        self.asset = asset


def store_image(
    *,
    file: Readable,
    filename: str,
    alt_text: str = "",
    categories: Sequence[str] = (),
    description: str = "",
    is_new_only: bool = False,
    actor: Actor,
) -> Asset:
    """Keep a file (JPEG, PNG, WebP, GIF, AVIF or PDF by its content); workers make its variants.

    Generated images come in here too, so a face that takes files from callers asks for a person itself. Not to be
    called in a transaction. Raises `NotAllowed`, `TooLarge` (413), `StorageFailed` (503), `RuleViolation` by field,
    or, where only what is new is wanted, `AlreadyThere`; then nothing is on disk.
    """
    actor.require("media.upload")
    asset = Asset(
        filename=clean_filename(filename),
        alt_text=clean_alt_text(alt_text),
        categories=clean_categories(categories),
        description=clean_description(description),
        uploaded_by_id=actor.user.pk,
    )
    cleaned = read_file(file, is_new_only=is_new_only)
    with file_store.new_file(cleaned.suffix, cleaned.content) as name, transaction.atomic():
        use_file(asset, name, cleaned)
        asset.save(force_insert=True)
        search.index_assets([asset])
        file_store.take([name], asset)
        queue_variants(asset)
        outbox.record(
            "media.uploaded",
            actor=actor,
            payload={"id": str(asset.pk), "filename": asset.filename, "mime": asset.mime},
        )
    return asset


def read_file(file: Readable, *, is_new_only: bool = False) -> Cleaned:
    """The checked and cleaned content of a file that a caller sent."""
    env = settings.CMS_ENV
    content = file.read(env.media_max_bytes + 1)
    if len(content) > env.media_max_bytes:
        raise TooLarge(
            _("The file is larger than %(media_max_bytes)s MB.")
            % {"media_max_bytes": f"{env.media_max_bytes / 1024 / 1024:g}"},
            details={"file": [_("too large")]},
        )
    if not content:
        raise invalid("file", _("The file is empty."))
    digest = sha256(content).hexdigest()
    there = Asset.objects.filter(digest=digest).order_by("-created_at") if is_new_only else None
    if there is not None and (same := there.first()) is not None:
        raise AlreadyThere(same)
    if content.startswith(_PDF):
        if _PDF_END not in content[-_PDF_TAIL:]:
            raise damaged_image_error()
        return Cleaned(content, "application/pdf", ".pdf", digest=digest)
    return replace(clean(content, max_pixels=env.media_max_pixels), digest=digest)


def use_file(asset: Asset, name: str, cleaned: Cleaned) -> None:
    """Make the file that of the asset; its variants have names, and are still to be made."""
    is_image = cleaned.mime.startswith("image/")
    asset.file.name = name
    asset.size = len(cleaned.content)
    asset.mime = cleaned.mime
    asset.digest = cleaned.digest
    asset.width = cleaned.width
    asset.height = cleaned.height
    asset.variants = file_store.planned_variants(name) if is_image else {}
    asset.dark_variants = {}
    asset.status = AssetStatus.PROCESSING if is_image else AssetStatus.READY
