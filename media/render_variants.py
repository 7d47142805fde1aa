"""Makes variants, in workers. Safe to run twice, also concurrently, and to kill at any point."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial
from io import BytesIO
from typing import Final
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from PIL import Image, ImageChops, ImageStat

from media import file_store
from media.image_sizes import IMAGE_SIZES
from media.images import (
    encode_animation,
    frames_of,
    normalize_orientation,
    strip_metadata,
)
from media.models import Asset, AssetStatus, ImageTheme, VariantWork
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.caching.content_tags import tag_of_media

logger = logging.getLogger(__name__)
_QUALITY: Final = 82
_METHOD: Final = 4
_SHARPNESS: Final = 2
"""Factor by which a JPEG is decoded larger than its largest size; resampling doesn't benefit from more."""


_TALLEST: Final = 16_383
"""Maximum number of pixels per side in WebP."""
_MAX_FRAME_PIXELS: Final = 120_000_000
"""Maximum number of pixels over all frames of an animation's size; encoding more takes minutes."""


def render_sizes(content: bytes, theme: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each size that can be made, largest first. Images are never enlarged.

    A size of an animation is animated, or not made. If no size could be made, raises the last error, unless the
    format's limits were the reason.
    """
    made, failure = 0, None
    for name, make in _sizes(content, theme):
        try:
            found = make()
        # Encoders raise many errors, and the other sizes must still be made.
        except Exception as error:
            logger.warning("Cannot make size %s.", name, exc_info=True)
            failure = error
            continue
        if found is not None:
            made += 1
            yield name, found
    if failure is not None and not made:
        raise failure


_Make = Callable[[], bytes | None]


def _sizes(content: bytes, theme: str) -> Iterator[tuple[str, _Make]]:
    file = Image.open(BytesIO(content))
    if frames_of(file) > 1:
        dress = dark_treatment(normalize_orientation(file)) if theme == ImageTheme.DARK else None
        for name, width in IMAGE_SIZES.items():
            yield name, partial(_moving_size, content, width, dress)
        return
    # `draft` lets the JPEG decoder scale down while decoding, which is much faster for large photos.
    if file.format == "JPEG":
        widest = _SHARPNESS * max(IMAGE_SIZES.values())
        file.draft("RGB", (widest, max(1, round(file.height * widest / file.width))))
    image = normalize_orientation(file)
    if theme == ImageTheme.DARK:
        image = darken(image)
    for name, width in IMAGE_SIZES.items():
        image = _scale_down(image, width)
        yield name, partial(_still_size, image)


def _scale_down(image: Image.Image, width: int) -> Image.Image:
    if image.width <= width:
        return image
    height = max(1, round(image.height * width / image.width))
    return image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)


def _still_size(image: Image.Image) -> bytes | None:
    if max(image.size) > _TALLEST:
        return None
    out = BytesIO()
    strip_metadata(image).save(out, "WEBP", quality=_QUALITY, method=_METHOD)
    return out.getvalue()


def _moving_size(content: bytes, width: int, dress: Treatment | None) -> bytes | None:
    file = Image.open(BytesIO(content))
    target_width = min(width, file.width)
    height = round(file.height * target_width / file.width)
    if height > _TALLEST or target_width * height * frames_of(file) > _MAX_FRAME_PIXELS:
        return None

    def change(frame: Image.Image) -> Image.Image:
        narrow = _scale_down(frame, width)
        return dress(narrow) if dress is not None else narrow

    return encode_animation(content, "WEBP", change, quality=_QUALITY, method=_METHOD)


_DIMMED: Final = 0.22
"""Fraction by which white is darkened; black is unchanged."""
_MAX_COLOURS: Final = 48
_SAMPLE: Final = (64, 64)
_MIDDLE: Final = 128
_MIN_OPACITY: Final = 64
"""Minimum opacity of a pixel to count, out of 255."""


Treatment = Callable[[Image.Image], Image.Image]


def darken(image: Image.Image) -> Image.Image:
    """Return an RGB or RGBA image adapted to dark pages, with the same mode and size."""
    return dark_treatment(image)(image)


def dark_treatment(image: Image.Image) -> Treatment:
    """Return a function that adapts an image, or all frames of an animation starting with it, to dark pages."""
    is_opaque = image.mode != "RGBA" or image.getchannel("A").getextrema()[0] == 255
    if is_opaque or not _is_drawing(image):
        return _dim
    # Only a dark drawing is inverted; a light one is visible on a dark page.
    seen = image.getchannel("A").point(lambda alpha: 255 if alpha >= _MIN_OPACITY else 0)
    if seen.getbbox() is None:
        return lambda image: image
    is_dark = ImageStat.Stat(image.convert("L"), mask=seen).mean[0] < _MIDDLE
    return _turn_over if is_dark else lambda image: image


def _dim(image: Image.Image) -> Image.Image:
    """Return a darkened photograph; light parts are darkened most."""
    curve = [round(value * (1 - _DIMMED * value / 255)) for value in range(256)]
    alpha = list(range(256))
    return image.point(curve * 3 + (alpha if image.mode == "RGBA" else []))


def _turn_over(image: Image.Image) -> Image.Image:
    # Inverts the lightness of each pixel and keeps hue and saturation: max + min of a pixel's channels
    # becomes 510 - max - min, so each channel changes by the same amount.
    *parts, opacity = image.split()
    most = ImageChops.lighter(ImageChops.lighter(parts[0], parts[1]), parts[2])
    least = ImageChops.darker(ImageChops.darker(parts[0], parts[1]), parts[2])
    turned = [
        ImageChops.invert(ImageChops.add(ImageChops.subtract(most, part), least)) for part in parts
    ]
    return Image.merge("RGBA", [*turned, opacity])


def _is_drawing(image: Image.Image) -> bool:
    """Return whether the visible part has few colours, with similar shades counted once."""
    sample = image.resize(_SAMPLE, Image.Resampling.NEAREST)
    seen = {
        tuple(part >> 5 for part in pixel[:3])
        for _, pixel in sample.getcolors(_SAMPLE[0] * _SAMPLE[1]) or []
        if isinstance(pixel, tuple) and pixel[3] >= _MIN_OPACITY
    }
    return len(seen) <= _MAX_COLOURS


MAX_ATTEMPTS: Final = 3
_LEASE: Final = timedelta(minutes=10)
"""Time during which a worker that doesn't report keeps its claim."""
_WAIT: Final = timedelta(seconds=30)
_KILLED: Final = "No worker came to its end with it."
_SYSTEM: Final = Actor(user=SYSTEM, via="system")


def make_variants(asset_id: UUID | str, theme: str) -> bool:
    """Make the requested variants. Return True if this call made them."""
    # One UPDATE claims the work, so that of two workers only one gets it.
    now = timezone.now()
    wanted = VariantWork.objects.filter(asset_id=asset_id, theme=theme, is_given_up=False)
    claimed = wanted.filter(due_at__lte=now).update(due_at=now + _LEASE, attempts=F("attempts") + 1)
    work = wanted.select_related("asset").first() if claimed else None
    if work is None:
        return False
    # Earlier attempts ended without an error, so the workers were probably killed, for example by lack of
    # memory.
    if work.attempts > MAX_ATTEMPTS:
        _record_failure(work, work.asset, _KILLED)
        return False
    asset = work.asset
    try:
        names = _write(asset, theme)
    except Exception as error:
        # Broad, because files and storages fail in many ways, and each failure must be recorded.
        logger.exception("cannot make %s variants of %s", theme, asset.pk)
        # Users see the reason, so it must not contain paths of the server.
        if isinstance(error, FileNotFoundError):
            reason = "The file is not in the storage."
        else:
            message = error.strerror if isinstance(error, OSError) else str(error)
            reason = f"{type(error).__name__}: {message or 'no more is known'}"[:300]
        _record_failure(work, asset, reason)
        return False
    return _keep_variants(work, asset, names)


def due_work() -> Iterable[tuple[str, str]]:
    """Return work that is due because of lost messages, failures or killed workers."""
    waiting = VariantWork.objects.filter(is_given_up=False, due_at__lte=timezone.now())
    rows = waiting.order_by("due_at").values_list("asset_id", "theme")[:100]
    return [(str(asset_id), theme) for asset_id, theme in rows]


def _write(asset: Asset, theme: str) -> dict[str, str]:
    with default_storage.open(str(asset.file.name)) as file:
        content = file.read()
    names = file_store.planned_variants(str(asset.file.name), theme)
    # Longer than the lease, so that the sweep doesn't delete files of a running worker.
    file_store.reserve(names.values(), 2 * _LEASE)
    made = {}
    for size, rendered in render_sizes(content, theme):
        file_store.put(names[size], rendered)
        made[size] = names[size]
    return made


@transaction.atomic
def _keep_variants(work: VariantWork, original: Asset, names: dict[str, str]) -> bool:
    asset = _lock_unchanged(original)
    if asset is None:  # replaced or deleted meanwhile, so these files are useless
        file_store.release_files(names.values(), timezone.now())
        return False
    if not VariantWork.objects.filter(pk=work.pk).delete()[0]:
        return False  # another worker finished first
    file_store.take(names.values(), asset)
    before = asset.dark_variants if work.theme == ImageTheme.DARK else asset.variants
    # A size that can't be made any more is removed.
    if removed_files := {*before.values()} - {*names.values()}:
        file_store.release_files(removed_files, timezone.now())
    if work.theme == ImageTheme.DARK:
        asset.dark_variants = names
    else:
        asset.variants, asset.status = names, AssetStatus.READY
    asset.save(update_fields=["variants", "dark_variants", "status", "updated_at"])
    _record(asset, work.theme, "made")
    return True


@transaction.atomic
def _record_failure(work: VariantWork, original: Asset, reason: str) -> None:
    asset = _lock_unchanged(original)
    if asset is None:
        return
    is_last = work.attempts >= MAX_ATTEMPTS
    due_at = timezone.now() + _WAIT * work.attempts
    claimed = VariantWork.objects.filter(pk=work.pk, attempts=work.attempts)
    if not claimed.update(due_at=due_at, reason=reason, is_given_up=is_last) or not is_last:
        return
    logger.error("gave up making %s variants of %s: %s", work.theme, asset.pk, reason)
    if work.theme == ImageTheme.LIGHT:
        asset.status = AssetStatus.FAILED
        asset.save(update_fields=["status", "updated_at"])
    _record(asset, work.theme, "failed")


def _lock_unchanged(original: Asset) -> Asset | None:
    """Return the locked asset if it still has the file that the worker read."""
    found = Asset.objects.select_for_update().filter(pk=original.pk).first()
    return found if found is not None and found.file.name == original.file.name else None


def _record(asset: Asset, theme: str, did: str) -> None:
    payload = {"id": str(asset.pk), "filename": asset.filename, "theme": theme, "did": did}
    tags = [tag_of_media(asset.pk)]
    outbox.record("media.variants", actor=_SYSTEM, payload={**payload}, tags=tags)
