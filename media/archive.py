"""Files in an archive: each content once by its SHA-256, with its name in the storage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from io import BytesIO
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field

from media import file_store, search
from media.metadata import (
    clean_alt_text,
    clean_alt_texts,
    clean_categories,
    clean_description,
    clean_filename,
    clean_focal_point,
)
from media.models import Asset, ImageTheme, StoredFile, VariantWork
from media.services.files import read_file, use_file
from media.services.player import check_captions, set_poster
from media.services.update import update_asset
from media.services.variants import queue_variants
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome, refused
from proofroom.archive.registry import ArchiveKind
from proofroom.archive.rows import ArchiveRow, Id, Moment, format_moment, read_moment
from proofroom.core import outbox
from proofroom.core.batches import batches
from proofroom.core.errors import CmsError
from proofroom.core.json import JsonObject

NAME: Final = "media"
_BATCH: Final = 200
_STEM: Final = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}")
_FILE: Final = re.compile(
    r"[0-9a-f]{2}/[0-9a-f]{32}\.(?:jpg|png|webp|gif|avif|pdf|mp4|m4a|webm|weba|mp3|ogg|wav)"
)
_CAPTIONS: Final = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}\.vtt")
_TIME_TO_FINISH: Final = timedelta(days=1)
"""Time the import may take before the sweep deletes its unused files."""


class MediaRow(ArchiveRow):
    id: Id
    file: str = Field(max_length=300)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    digest: str = Field(pattern=r"^([0-9a-f]{64})?$")
    filename: str
    alt_text: str
    alt_texts: dict[str, str]
    is_decorative: bool
    description: str
    categories: list[str]
    focal_x: float | None
    focal_y: float | None
    dark: bool
    uploaded_by: str | None
    created_at: Moment
    poster: Id | None = None
    captions: dict[str, str] = Field(default_factory=dict)
    caption_files: dict[str, str] = Field(default_factory=dict)


class MediaArchive(ArchiveKind[MediaRow]):
    name = NAME
    label = gettext_lazy("Media")

    def export(self, export: Export) -> Iterator[JsonObject]:
        wanted = export.of_kind(NAME)
        assets = Asset.objects.order_by("pk")
        for part in batches(assets.iterator(chunk_size=_BATCH), _BATCH):
            if wanted is not None:
                part = [asset for asset in part if str(asset.pk) in wanted]
            works = VariantWork.objects.filter(asset__in=part, theme=ImageTheme.DARK)
            darkened = set(works.values_list("asset_id", flat=True))
            for asset in part:
                try:
                    with default_storage.open(asset.file.name or "") as stored:
                        digest = export.writer.add_media(stored.read())
                except OSError:
                    export.notes.append(
                        _(
                            "%(name)s was left out, because its file %(file)s is missing from "
                            "storage."
                        )
                        % {"name": asset.filename, "file": asset.file.name}
                    )
                    continue
                yield {
                    "id": str(asset.pk),
                    "file": asset.file.name,
                    "sha256": digest,
                    "digest": asset.digest,
                    "filename": asset.filename,
                    **_words(asset),
                    "dark": bool(asset.dark_variants) or asset.pk in darkened,
                    "uploadedBy": export.person(asset.uploaded_by_id),
                    "createdAt": format_moment(asset.created_at),
                    "poster": str(asset.poster) if asset.poster else None,
                    "captions": _read_captions(asset),
                    "captionFiles": asset.captions or {},
                }

    def match(self, rows: Iterator[MediaRow], job: ArchiveImport) -> None:
        for part in batches(rows, _BATCH):
            here = Asset.objects.in_bulk([UUID(row.id) for row in part])
            wanted = {row.digest for row in part if row.digest and UUID(row.id) not in here}
            # In reverse, so that of several equal files the one with the lowest key wins.
            same = {a.digest: a for a in Asset.objects.filter(digest__in=wanted).order_by("-pk")}
            for row in part:
                asset = here.get(UUID(row.id)) or same.get(row.digest)
                if asset is None:
                    continue
                job.map_id(row.id, str(asset.pk))
                # Texts contain URLs of files, so the random part of the old name is mapped to the new one.
                there, archived = _STEM.match(asset.file.name or ""), _STEM.match(row.file)
                if there and archived:
                    job.map_id(archived[0], there[0])

    def prepare(self, rows: Iterator[MediaRow], job: ArchiveImport) -> None:
        """Store new files. They are deleted again if the import fails."""
        stored: dict[str, Asset] = {}
        job.state[NAME] = stored
        for part in batches(rows, _BATCH):
            here = Asset.objects.in_bulk([UUID(row.id) for row in part])
            for row in part:
                if UUID(row.id) not in here and row.id not in stored:
                    try:
                        stored[row.id] = _store(row, job)
                    except CmsError as error:
                        raise refused(NAME, row.filename, error) from error

    def write(self, rows: Iterator[MediaRow], job: ArchiveImport) -> None:
        posters: dict[UUID, str] = {}
        for part in batches(rows, _BATCH):
            here = Asset.objects.in_bulk([UUID(row.id) for row in part])
            made: list[Asset] = []
            for row in part:
                asset = here.get(UUID(row.id))
                with job.writing(NAME, row.filename, row.id, is_here=asset is not None):
                    if asset is not None:
                        _bring_change(row, asset, job)
                    else:
                        made.append(_create(row, job))
                        # A file can have been replaced by another type. In a dry run, no type is known.
                        if row.poster and made[-1].is_recording:
                            posters[made[-1].pk] = row.poster
            search.index_assets(made)
            outbox.record_all(
                "media.uploaded",
                [
                    (None, {"id": str(one.pk), "filename": one.filename, "mime": one.mime})
                    for one in made
                ],
                actor=job.actor,
            )
        # A poster may follow the file that shows it.
        there = Asset.objects.in_bulk([UUID(one) for one in posters.values()])
        for id_, poster in posters.items():
            if UUID(poster) in there and there[UUID(poster)].mime.startswith("image/"):
                set_poster(asset_id=id_, poster_id=poster, actor=job.actor)


def _read_captions(asset: Asset) -> dict[str, str]:
    """Return the WebVTT texts by language. Missing files are left out."""
    found = {}
    for locale, name in (asset.captions or {}).items():
        with suppress(OSError), default_storage.open(name) as stored:
            found[locale] = stored.read().decode()
    return found


def _words(asset: Asset) -> JsonObject:
    """Return the metadata of a file."""
    return {
        "altText": asset.alt_text,
        "altTexts": asset.alt_texts,
        "isDecorative": asset.is_decorative,
        "description": asset.description,
        "categories": asset.categories,
        "focalX": asset.focal_x,
        "focalY": asset.focal_y,
    }


def _store(row: MediaRow, job: ArchiveImport) -> Asset:
    """Store the file of a row, checked and cleaned as an upload, under its name if possible.

    Returns an unsaved asset with the data of the file.
    """
    cleaned = read_file(BytesIO(job.reader.read_media(row.sha256)))
    name = row.file
    is_used = StoredFile.objects.filter(name=name).exists()
    if is_used or not _FILE.fullmatch(name) or not name.endswith(cleaned.suffix):
        name = file_store.new_name(cleaned.suffix)
        old, new = _STEM.match(row.file), _STEM.match(name)
        if old and new:
            job.map_id(old[0], new[0])
    # The row comes before the file, so that a killed import leaves no unknown file.
    file_store.reserve([name], _TIME_TO_FINISH)
    job.on_failure.callback(file_store.discard, name)
    file_store.put(name, cleaned.content)
    asset = Asset(id=UUID(row.id))
    use_file(asset, name, cleaned)
    asset.captions = _store_captions(row, job) or None
    return asset


def _store_captions(row: MediaRow, job: ArchiveImport) -> dict[str, str]:
    """Store the captions of a recording, in languages that this site has, and return their names."""
    known = {
        locale: text for locale, text in row.captions.items() if locale in settings.CMS_ENV.locales
    }
    stored = {}
    for locale, text in check_captions(known).items():
        if text:
            name = row.caption_files.get(locale, "")
            is_used = StoredFile.objects.filter(name=name).exists()
            if is_used or not _CAPTIONS.fullmatch(name):
                name = file_store.new_name(".vtt")
            stored[locale] = name
            file_store.reserve([name], _TIME_TO_FINISH)
            job.on_failure.callback(file_store.discard, name)
            file_store.put(name, text.encode())
    return stored


def _create(row: MediaRow, job: ArchiveImport) -> Asset:
    stored: Asset | None = job.state.get(NAME, {}).get(row.id)
    asset = stored or Asset(id=UUID(row.id), size=0)
    asset.filename = clean_filename(row.filename)
    uploader = job.person(row.uploaded_by)
    asset.uploaded_by_id = uploader if job.keeps_history else job.actor.user.pk
    locales = settings.CMS_ENV.locales
    known = {name: text for name, text in row.alt_texts.items() if name in locales}
    if known != row.alt_texts:
        job.note(
            _("%(name)s: alt texts in languages that this site does not have were left out.")
            % {"name": row.filename}
        )
    asset.alt_text = clean_alt_text(row.alt_text)
    asset.alt_texts = clean_alt_texts(known, {})
    asset.is_decorative = row.is_decorative
    asset.description = clean_description(row.description)
    asset.categories = clean_categories(row.categories)
    if row.focal_x is not None and row.focal_y is not None:
        asset.focal_x, asset.focal_y = clean_focal_point((row.focal_x, row.focal_y))
    if stored is None:  # a dry run stores no files
        asset.file.name = row.file
    asset.digest = row.digest
    asset.save(force_insert=True)
    # `auto_now_add` overwrites `created_at` on insert.
    Asset.objects.filter(pk=asset.pk).update(created_at=read_moment(row.created_at))
    if stored is None:
        StoredFile.objects.update_or_create(name=row.file, defaults={"asset": asset})
    else:
        file_store.take([str(asset.file.name), *(asset.captions or {}).values()], asset)
        queue_variants(asset)
        if row.dark:
            queue_variants(asset, ImageTheme.DARK)
    job.tell(NAME, Outcome.CREATED, asset.filename, row.id)
    return asset


def _bring_change(row: MediaRow, asset: Asset, job: ArchiveImport) -> None:
    archived = row.model_dump(by_alias=True, include=set(_WORDS))
    if not job.compare(NAME, asset.filename, _words(asset), archived):
        job.tell(NAME, Outcome.UNCHANGED, asset.filename)
    elif job.mode == Mode.UPDATE:
        has_point = row.focal_x is not None and row.focal_y is not None
        update_asset(
            asset_id=asset.pk,
            actor=job.actor,
            alt_text=row.alt_text,
            alt_texts={**dict.fromkeys(asset.alt_texts, ""), **row.alt_texts},
            is_decorative=row.is_decorative,
            description=row.description,
            categories=row.categories,
            focal_point=(row.focal_x or 0, row.focal_y or 0) if has_point else None,
        )
        job.tell(NAME, Outcome.UPDATED, asset.filename, row.id)
    else:
        job.tell(NAME, Outcome.KEPT, asset.filename, row.id)


_WORDS: Final = (
    "alt_text", "alt_texts", "is_decorative", "description", "categories", "focal_x", "focal_y",
)  # fmt: skip
