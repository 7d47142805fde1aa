"""Store: an uploaded or generated file becomes an asset, or leaves nothing behind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, Protocol
from uuid import uuid4

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from core import events
from core.actor import Actor
from core.errors import CmsError, invalid
from media.images import Encoded, encode
from media.models import Asset

CATEGORIES_MAX: Final = 20
CATEGORY_MAX: Final = 60
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PDF: Final = b"%PDF-"


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class TooLarge(CmsError):
    """More bytes than the site takes."""

    status = 413
    code = "too_large"


def store_image(
    *,
    file: Readable,
    filename: str,
    alt_text: str = "",
    categories: Sequence[str] = (),
    actor: Actor,
) -> Asset:
    """Keep a file (JPEG, PNG, WebP, GIF, AVIF or PDF by its content) with its variants.

    Generated images come in here too, so a face that takes files from callers asks for a person itself. Raises
    `NotAllowed`, `TooLarge` (413), or `RuleViolation` by field; then nothing is on disk.
    """
    actor.require("media.upload")
    alt = clean_alt_text(alt_text)
    words = clean_categories(categories)
    content = _read(file, settings.CMS_ENV.media_max_bytes)
    encoded = (
        Encoded(content, "application/pdf", ".pdf", 0, 0, {})
        if content.startswith(_PDF)
        else encode(content, max_pixels=settings.CMS_ENV.media_max_pixels)
    )
    written: list[str] = []
    try:
        with transaction.atomic():
            asset = Asset(
                filename=clean_filename(filename),
                size=len(encoded.content),
                mime=encoded.mime,
                width=encoded.width or None,
                height=encoded.height or None,
                alt_text=alt,
                categories=words,
                uploaded_by_id=actor.user.pk,
            )
            asset.file.name, asset.variants = _write(encoded, written)
            asset.save(force_insert=True)
            events.record(
                "media.uploaded",
                actor=actor,
                payload={"id": str(asset.pk), "filename": asset.filename, "mime": asset.mime},
            )
    except BaseException:
        for name in written:
            default_storage.delete(name)
        raise
    return asset


def _read(file: Readable, most: int) -> bytes:
    content = file.read(most + 1)
    if len(content) > most:
        raise TooLarge(
            f"The file is larger than {most / 1024 / 1024:g} MB.", details={"file": ["too large"]}
        )
    if not content:
        raise invalid("file", "The file is empty.")
    return content


def _write(encoded: Encoded, written: list[str]) -> tuple[str, Mapping[str, str]]:
    """Write the files under names that nobody can guess; `written` grows as they appear."""
    stem = uuid4().hex
    folder = stem[:2]

    def put(name: str, content: bytes) -> str:
        written.append(default_storage.save(f"{folder}/{name}", ContentFile(content)))
        return written[-1]

    name = put(stem + encoded.suffix, encoded.content)
    variants = {
        size: put(f"{stem}-{size}.webp", content) for size, content in encoded.variants.items()
    }
    return name, variants


def clean_filename(name: str) -> str:
    """The last part of a name, for people to read; never a path of the storage."""
    plain = PurePosixPath(_CONTROL.sub("", name).replace("\\", "/")).name.strip()
    return plain[-255:] or "file"


def clean_alt_text(value: str) -> str:
    text = " ".join(_CONTROL.sub(" ", value).split())
    longest = Asset._meta.get_field("alt_text").max_length or 500
    if len(text) > longest:
        raise invalid("alt_text", f"The text has {len(text)} characters; at most {longest} fit.")
    return text


def clean_categories(values: Sequence[str]) -> list[str]:
    """The categories without repetitions, each trimmed."""
    words = list(dict.fromkeys(" ".join(_CONTROL.sub(" ", value).split()) for value in values))
    words = [word for word in words if word]
    if len(words) > CATEGORIES_MAX or any(len(word) > CATEGORY_MAX for word in words):
        raise invalid(
            "categories",
            f"At most {CATEGORIES_MAX} categories of {CATEGORY_MAX} characters each are allowed.",
        )
    return words
