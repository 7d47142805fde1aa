"""Makes variants, for workers. Safe to run twice, beside another worker, and to be killed at any point."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta
from io import BytesIO
from typing import Final
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from PIL import Image, ImageChops, ImageStat

from media import file_store
from media.file_store import VARIANTS
from media.images import normalize_orientation, strip_metadata
from media.models import Asset, AssetStatus, ImageTheme, VariantWork
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.caching.content_tags import tag_of_media

_QUALITY: Final = 82
_METHOD: Final = 4
_SHARPNESS: Final = 2
"""How many times larger than the largest size a JPEG is decoded: as much as resampling can use."""


def render_sizes(content: bytes, theme: str) -> Iterator[tuple[str, bytes]]:
    """Name and content of each size, from the largest; never enlarged. Of an animation, its first frame."""
    file = Image.open(BytesIO(content))
    if file.format == "JPEG":
        widest = _SHARPNESS * max(VARIANTS.values())
        file.draft("RGB", (widest, max(1, round(file.height * widest / file.width))))
    image = normalize_orientation(file)
    if theme == ImageTheme.DARK:
        image = darken(image)
    for name, width in VARIANTS.items():
        if image.width > width:
            height = max(1, round(image.height * width / image.width))
            image = image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)
        out = BytesIO()
        strip_metadata(image).save(out, "WEBP", quality=_QUALITY, method=_METHOD)
        yield name, out.getvalue()


_DIMMED: Final = 0.22
"""How much of its brightness white loses; black loses none."""
_MAX_COLOURS: Final = 48
_SAMPLE: Final = (64, 64)
_MIDDLE: Final = 128
_MIN_OPACITY: Final = 64
"""The opacity from which a pixel counts, of 255."""


def darken(image: Image.Image) -> Image.Image:
    """An image of the mode RGB or RGBA for a dark page, in the same mode and size."""
    is_opaque = image.mode != "RGBA" or image.getchannel("A").getextrema()[0] == 255
    if is_opaque or not _is_drawing(image):
        # A photograph is dimmed, its light parts most.
        curve = [round(value * (1 - _DIMMED * value / 255)) for value in range(256)]
        alpha = list(range(256))
        return image.point(curve * 3 + (alpha if image.mode == "RGBA" else []))
    # A drawing that is dark where it is seen is turned over; a light one stays.
    seen = image.getchannel("A").point(lambda alpha: 255 if alpha >= _MIN_OPACITY else 0)
    if seen.getbbox() is None:
        return image
    is_dark = ImageStat.Stat(image.convert("L"), mask=seen).mean[0] < _MIDDLE
    if not is_dark:
        return image
    # Each pixel with its hue and saturation and the opposite lightness: max + min of a pixel's parts becomes
    # 510 - max - min, so each part moves by the same amount.
    *parts, opacity = image.split()
    most = ImageChops.lighter(ImageChops.lighter(parts[0], parts[1]), parts[2])
    least = ImageChops.darker(ImageChops.darker(parts[0], parts[1]), parts[2])
    turned = [
        ImageChops.invert(ImageChops.add(ImageChops.subtract(most, part), least)) for part in parts
    ]
    return Image.merge("RGBA", [*turned, opacity])


def _is_drawing(image: Image.Image) -> bool:
    """Return whether what is seen has few colours, shades of one colour counted as one."""
    sample = image.resize(_SAMPLE, Image.Resampling.NEAREST)
    seen = {
        tuple(part >> 5 for part in pixel[:3])
        for _, pixel in sample.getcolors(_SAMPLE[0] * _SAMPLE[1]) or []
        if isinstance(pixel, tuple) and pixel[3] >= _MIN_OPACITY
    }
    return len(seen) <= _MAX_COLOURS


logger = logging.getLogger(__name__)
MAX_ATTEMPTS: Final = 3
_LEASE: Final = timedelta(minutes=10)
"""How long a worker that is not heard of keeps others away."""
_WAIT: Final = timedelta(seconds=30)
_KILLED: Final = "No worker came to its end with it."
_SYSTEM: Final = Actor(user=SYSTEM, via="system")


def make_variants(asset_id: UUID | str, theme: str) -> bool:
    """Make the variants that somebody asked for. Answers whether they were made by this call."""
    # The work, kept from others for a while.
    now = timezone.now()
    wanted = VariantWork.objects.filter(asset_id=asset_id, theme=theme, is_given_up=False)
    claimed = wanted.filter(due_at__lte=now).update(due_at=now + _LEASE, attempts=F("attempts") + 1)
    work = wanted.select_related("asset").first() if claimed else None
    if work is None:
        return False
    if work.attempts > MAX_ATTEMPTS:
        _record_failure(work, work.asset, _KILLED)
        return False
    asset = work.asset
    try:
        names = _write(asset, theme)
    except Exception as error:
        # A file can be gone, broken or too large in any way, and a storage away.
        logger.exception("%s variants of %s were not made", theme, asset.pk)
        # For people who may see no path of the machine.
        if isinstance(error, FileNotFoundError):
            reason = "The file is not in the storage."
        else:
            said = error.strerror if isinstance(error, OSError) else str(error)
            reason = f"{type(error).__name__}: {said or 'no more is known'}"[:300]
        _record_failure(work, asset, reason)
        return False
    return _keep_variants(work, asset, names)


def due_work() -> Iterable[tuple[str, str]]:
    """Return what lost messages, failures and workers that ended left to be made."""
    waiting = VariantWork.objects.filter(is_given_up=False, due_at__lte=timezone.now())
    rows = waiting.order_by("due_at").values_list("asset_id", "theme")[:100]
    return [(str(asset_id), theme) for asset_id, theme in rows]


def _write(asset: Asset, theme: str) -> dict[str, str]:
    with default_storage.open(str(asset.file.name)) as file:
        content = file.read()
    names = file_store.planned_variants(str(asset.file.name), theme)
    file_store.reserve(names.values(), 2 * _LEASE)
    for size, made in render_sizes(content, theme):
        file_store.put(names[size], made)
    return names


@transaction.atomic
def _keep_variants(work: VariantWork, was: Asset, names: dict[str, str]) -> bool:
    asset = _lock_unchanged(was)
    if asset is None:  # replaced or deleted meanwhile: nobody wants these files
        file_store.release_files(names.values(), timezone.now())
        return False
    if not VariantWork.objects.filter(pk=work.pk).delete()[0]:
        return False  # another worker was as far
    file_store.take(names.values(), asset)
    if work.theme == ImageTheme.DARK:
        asset.dark_variants = names
    else:
        asset.variants, asset.status = names, AssetStatus.READY
    asset.save(update_fields=["variants", "dark_variants", "status", "updated_at"])
    _record(asset, work.theme, "made")
    return True


@transaction.atomic
def _record_failure(work: VariantWork, was: Asset, reason: str) -> None:
    asset = _lock_unchanged(was)
    if asset is None:
        return
    is_last = work.attempts >= MAX_ATTEMPTS
    due_at = timezone.now() + _WAIT * work.attempts
    mine = VariantWork.objects.filter(pk=work.pk, attempts=work.attempts)
    if not mine.update(due_at=due_at, reason=reason, is_given_up=is_last) or not is_last:
        return
    logger.error("%s variants of %s are given up: %s", work.theme, asset.pk, reason)
    if work.theme == ImageTheme.LIGHT:
        asset.status = AssetStatus.FAILED
        asset.save(update_fields=["status", "updated_at"])
    _record(asset, work.theme, "failed")


def _lock_unchanged(was: Asset) -> Asset | None:
    """The asset, held, where it still has the file that the worker read."""
    found = Asset.objects.select_for_update().filter(pk=was.pk).first()
    return found if found is not None and found.file.name == was.file.name else None


def _record(asset: Asset, theme: str, did: str) -> None:
    payload = {"id": str(asset.pk), "filename": asset.filename, "theme": theme, "did": did}
    tags = [tag_of_media(asset.pk)]
    outbox.record("media.variants", actor=_SYSTEM, payload={**payload}, tags=tags)
