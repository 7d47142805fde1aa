"""Files of the library: store, replace and delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from media import file_store, search
from media.metadata import (
    clean_alt_text,
    clean_alt_texts,
    clean_categories,
    clean_description,
    clean_filename,
)
from media.models import Asset, AssetStatus, ImageTheme, StoredFile
from media.recordings import (
    Recording,
    UnplayableFormat,
    looks_like_recording,
    read_recording,
)
from media.scopes import visible_assets
from media.services.player import forget_poster, remove_poster
from media.services.update import find_asset, lock_asset
from media.services.variants import queue_variants
from media.usage_sources import places_of
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, invalid
from proofroom.core.json import JsonObject

if TYPE_CHECKING:
    from media.images import Cleaned

_PDF: Final = b"%PDF-"
_PDF_END: Final = b"%%EOF"
_HEAD: Final = 64
"""Bytes that tell the kind of a file."""
_PDF_TAIL: Final = 4096
"""Number of bytes at the end of a PDF that must contain its end marker."""


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class TooLarge(CmsError):
    """The file is larger than the site allows."""

    status = 413
    code = "too_large"


class DuplicateFile(Conflict):
    """The same file already exists as `asset`."""

    code = "media_already_there"

    def __init__(self, asset: Asset) -> None:
        super().__init__(_("Already in the library: %(name)s.") % {"name": asset.filename})
        self.asset = asset


def store_image(
    *,
    file: Readable,
    filename: str,
    alt_text: str = "",
    alt_texts: Mapping[str, str] | None = None,
    categories: Sequence[str] = (),
    description: str = "",
    is_new_only: bool = False,
    is_image_only: bool = False,
    actor: Actor,
) -> Asset:
    """Store an image, PDF, video or audio file, recognized by its content; workers make the variants of images.

    `alt_texts` holds languages other than the default; `is_image_only` refuses other files. Agents may store
    generated images, so endpoints for uploads must require a person themselves. Must not be called in a
    transaction. Raises `NotAllowed`, `TooLarge` (413), `StorageFailed` (503), `RuleViolation` by field and,
    with `is_new_only`, `DuplicateFile`; then no file is left.
    """
    actor.require("media.upload")
    asset = Asset(
        filename=clean_filename(filename),
        alt_text=clean_alt_text(alt_text),
        alt_texts=clean_alt_texts(alt_texts or {}, {}),
        categories=clean_categories(categories),
        description=clean_description(description),
        uploaded_by_id=actor.user.pk,
    )
    cleaned = read_file(file, new_to=actor if is_new_only else None, is_image_only=is_image_only)
    # The file is written before the transaction begins, so that no lock is held meanwhile.
    with file_store.new_file(cleaned.suffix, cleaned.content) as name, transaction.atomic():
        # Checked again under a lock, because another process may have stored the same file meanwhile.
        if is_new_only:
            _wait_for_others(cleaned.digest)
            _refuse_known(cleaned.digest, actor)
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


def read_file(
    file: Readable, *, new_to: Actor | None = None, is_image_only: bool = False
) -> Cleaned:
    """Return the checked and cleaned content of a file. Refuses a file that is already visible to `new_to`."""
    # Imported here, so that only processes that store files load Pillow.
    from media.images import Cleaned, clean, damaged_image_error

    env = settings.CMS_ENV
    head = file.read(_HEAD)
    if not head:
        raise invalid("file", _("The file is empty."))
    is_document, is_recording = head.startswith(_PDF), looks_like_recording(head)
    if is_image_only and (is_document or is_recording):
        raise invalid("file", _("This file is not an image."), code="media_type")
    most = env.media_max_recording_bytes if is_recording else env.media_max_bytes
    # One byte more than allowed is enough to detect a file that is too large.
    content = head + file.read(max(0, most + 1 - len(head)))
    if len(content) > most:
        raise too_large_error(most)
    digest = sha256(content).hexdigest()
    if new_to is not None:
        _refuse_known(digest, new_to)
    if is_document:
        if _PDF_END not in content[-_PDF_TAIL:]:
            raise damaged_image_error()
        return Cleaned(content, "application/pdf", ".pdf", digest=digest)
    if is_recording:
        found = _read_recording(content)
        return Cleaned(
            found.content,
            found.mime,
            found.suffix,
            found.width,
            found.height,
            digest,
            found.duration,
        )
    return replace(clean(content, max_pixels=env.media_max_pixels), digest=digest)


def _read_recording(content: bytes) -> Recording:
    from media.images import damaged_image_error

    try:
        found = read_recording(content)
    except UnplayableFormat as error:
        raise invalid(
            "file",
            _(
                "Browsers do not play this format (%(format)s). Convert it to MP4 with H.264, "
                "or to MP3."
            )
            % {"format": str(error)[:60]},
            code="media_type",
        ) from error
    except ValueError as error:
        raise damaged_image_error() from error
    if found is None:
        raise damaged_image_error()
    return found


def too_large_error(most: int) -> TooLarge:
    return TooLarge(
        _("The file is larger than %(media_max_bytes)s MB.")
        % {"media_max_bytes": f"{most / 1024 / 1024:g}"},
        details={"file": [_("too large")]},
    )


def _refuse_known(digest: str, actor: Actor) -> None:
    there = visible_assets(Asset.objects.filter(digest=digest), actor)
    if (same := there.order_by("-created_at").first()) is not None:
        raise DuplicateFile(same)


def _wait_for_others(digest: str) -> None:
    """Let only one transaction at a time add this content. SQLite has a single writer anyway."""
    if connection.vendor == "postgresql":
        # Advisory locks take a signed 64-bit key.
        key = int.from_bytes(bytes.fromhex(digest)[:8], "big", signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])


def use_file(asset: Asset, name: str, cleaned: Cleaned) -> None:
    """Set the file of the asset. Its variants get names but are not made yet."""
    is_image = cleaned.mime.startswith("image/")
    asset.file.name = name
    asset.size = len(cleaned.content)
    asset.mime = cleaned.mime
    asset.digest = cleaned.digest
    asset.width = cleaned.width
    asset.height = cleaned.height
    asset.duration = cleaned.duration
    asset.variants = file_store.planned_variants(name) if is_image else {}
    asset.dark_variants = {}
    asset.status = AssetStatus.PROCESSING if is_image else AssetStatus.READY


OLD_FILE_LIFETIME: Final = timedelta(days=1)
"""Time during which replaced files stay, for cached pages; later their names lead to the new file."""


def replace_file(*, asset_id: UUID | str, file: Readable, filename: str, actor: Actor) -> Asset:
    """Replace the file of an asset, also by another type. Metadata and focal point stay; a poster only where it fits.

    Must not be called in a transaction. Raises `NotAllowed`, `NotFound`, and what `store_image` raises; then
    nothing changes.
    """
    actor.require_person("replace files")
    actor.require("media.edit")
    find_asset(asset_id, actor)  # before the file is read, which is slow
    name = clean_filename(filename)
    cleaned = read_file(file)
    # The file is written before the transaction begins, so that no lock is held meanwhile.
    with file_store.new_file(cleaned.suffix, cleaned.content) as path, transaction.atomic():
        asset = lock_asset(asset_id, actor)
        before, is_dark = asset.filename, bool(asset.dark_variants)
        is_dark = is_dark or asset.works.filter(theme=ImageTheme.DARK).exists()
        in_use = StoredFile.objects.filter(asset=asset, due_at=None, is_deleted=False)
        # Captions stay, like the texts.
        in_use = in_use.exclude(name__in=(asset.captions or {}).values())
        file_store.release_files(
            [*in_use.values_list("name", flat=True)], timezone.now() + OLD_FILE_LIFETIME
        )
        asset.works.all().delete()
        asset.filename = name
        use_file(asset, path, cleaned)
        if not asset.is_recording:
            remove_poster(asset)
        if not asset.mime.startswith("image/"):
            forget_poster(asset)
        asset.save()
        search.index_assets([asset])
        file_store.take([path], asset)
        queue_variants(asset)
        if is_dark:
            queue_variants(asset, ImageTheme.DARK)
        payload = {"id": str(asset.pk), "filename": name, "mime": asset.mime, "before": before}
        outbox.record("media.replaced", actor=actor, payload={**payload})
    return asset


@transaction.atomic
def delete_asset(*, asset_id: UUID | str, actor: Actor, force: bool = False) -> None:
    """Delete an asset; its files are deleted after the commit. Pages that used it show no image.

    Raises `NotAllowed`, `NotFound`, or `Conflict` (`media_in_use`, with the places in `details`) unless forced.
    """
    actor.require_person("delete media")
    actor.require("media.delete")
    asset = lock_asset(asset_id, actor)
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
    remove_poster(asset)
    forget_poster(asset)
    asset.delete()
    outbox.record("media.deleted", actor=actor, payload=payload)
