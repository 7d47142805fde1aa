"""Images: decoded safely and completely, upright, in sRGB, without metadata.

Works on bytes in memory only, without storage and database.
"""

from __future__ import annotations

import logging
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any, Final

from django.utils.translation import gettext as _
from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from media.containers import COPIERS
from proofroom.core.errors import RuleViolation, invalid

logger = logging.getLogger(__name__)
_FORMATS: Final[Mapping[str, tuple[str, str]]] = {
    "JPEG": ("image/jpeg", ".jpg"),
    "PNG": ("image/png", ".png"),
    "WEBP": ("image/webp", ".webp"),
    "GIF": ("image/gif", ".gif"),
    "AVIF": ("image/avif", ".avif"),
}
# Faster settings, because a user waits: better ones save a few percent of the size but take seconds at 50
# megapixels.
_OPTIONS: Final[Mapping[str, Mapping[str, int]]] = {
    "JPEG": {"quality": 90},
    "PNG": {"compress_level": 3},
    "WEBP": {"quality": 90, "method": 2},
}
_MAX_FRAMES: Final = 300
_MAX_FRAME_AREAS: Final = 4
"""Maximum number of pixels of all frames of an animation, as a multiple of the limit for one image."""
_AVIF: Final = re.compile(rb"....ftypavi[fs]", re.DOTALL)
_ORIENTATION: Final = 0x0112
_KINDS: Final = "JPEG, PNG, WebP, GIF, AVIF, PDF, MP4, WebM, MP3, Ogg or WAV"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned file. `width` and `height` are in pixels as displayed, None for documents and audio.

    `digest` is the hash of the original file, `duration` that of a recording in seconds.
    """

    content: bytes
    mime: str
    suffix: str
    width: int | None = None
    height: int | None = None
    digest: str = ""
    duration: float | None = None


def clean(content: bytes, *, max_pixels: int) -> Cleaned:
    """Return the image without metadata, upright and in sRGB; AVIF keeps its own orientation and colours.

    The type is determined by the content, not by the name. Raises `RuleViolation` on `file` if the file is not
    a known image, is damaged, or has too many pixels over all frames.
    """
    image = _open(content, max_pixels)
    kind = _kind(image)
    mime, suffix = _FORMATS[kind]
    # Broad, because broken files cause many errors: OSError, SyntaxError, ValueError, zlib.error and others.
    try:
        copied = _copy_pixels(image, content, max_pixels)
    except (MemoryError, RuleViolation):
        raise
    except Exception as error:
        logger.info("Cannot copy a %s without re-encoding; it is encoded again: %r", kind, error)
        copied = None
    try:
        cleaned, (width, height) = copied or _encode_anew(content, max_pixels)
    except (MemoryError, RuleViolation):
        raise
    except Exception as error:
        raise damaged_image_error() from error
    return Cleaned(cleaned, mime, suffix, width, height)


def _encode_anew(content: bytes, max_pixels: int) -> tuple[bytes, tuple[int, int]]:
    """Encode the pixels again, for rotated images, other colour spaces, and files that can't be copied but
    decoded.

    All frames of an animation are in memory at the same time, so together they may have the pixels of one
    image.
    """
    image = _open(content, max_pixels)
    kind, frames = _kind(image), frames_of(image)
    if frames > 1:
        if image.width * image.height * frames > max_pixels:
            raise _too_many_pixels(max_pixels)
        _load_all(image, max_pixels)
        return encode_animation(content, kind, lambda frame: frame), image.size
    bare = strip_metadata(normalize_orientation(image))
    return encode_image(bare, kind), bare.size


def _open(content: bytes, max_pixels: int) -> Image.Image:
    """Open the image and read only its header, to know its size before decoding."""
    try:
        # Other decoders of Pillow must not see untrusted input.
        image = Image.open(BytesIO(content), formats=list(_FORMATS))
        pixels = image.width * image.height
        # Counting frames may read the whole file, so it is skipped for images that are refused anyway.
        frames = frames_of(image) if pixels <= max_pixels else 1
    except Image.DecompressionBombError:
        raise _too_many_pixels(max_pixels) from None
    except UnidentifiedImageError:
        # Pillow can't read the header of an incomplete AVIF file.
        if _AVIF.match(content):
            raise damaged_image_error() from None
        raise invalid(
            "file",
            _("This file is not a valid %(kinds)s.") % {"kinds": _KINDS},
            code="media_type",
        ) from None
    # Pillow raises many exception classes for damaged headers.
    except Exception as error:
        raise damaged_image_error() from error
    if (
        pixels > max_pixels
        or frames > _MAX_FRAMES
        or pixels * frames > _MAX_FRAME_AREAS * max_pixels
    ):
        raise _too_many_pixels(max_pixels)
    return image


def _kind(image: Image.Image) -> str:
    # Some cameras append further pictures to a JPEG file, which Pillow calls MPO.
    return "JPEG" if image.format == "MPO" else str(image.format)


def frames_of(image: Image.Image) -> int:
    """Return the number of frames; more than one is an animation."""
    return getattr(image, "n_frames", 1) if _kind(image) != "JPEG" else 1


def _copy_pixels(
    image: Image.Image, content: bytes, max_pixels: int
) -> tuple[bytes, tuple[int, int]] | None:
    """Return a copy with the pixels only, and its size; None if the pixels must change.

    The copy is decoded as a check, because it is what will be stored: a crafted file may be read differently
    than its copy.
    """
    kind = _kind(image)
    is_moving, turned = frames_of(image) > 1, _orientation(image)
    # AVIF stores orientation and colours itself, and encoding takes minutes.
    if kind != "AVIF" and not is_moving and (turned > 1 or not _is_srgb(image)):
        return None
    copied = COPIERS[kind](content)
    checked = _open(copied, max_pixels)
    if (checked.format, checked.size) != (kind, image.size):
        raise ValueError("the file is two things at once")
    _load_all(checked, max_pixels)
    width, height = checked.size
    # The orientations 5 to 8 swap width and height.
    return copied, (height, width) if kind == "AVIF" and turned >= 5 else (width, height)


def _load_all(image: Image.Image, max_pixels: int) -> None:
    """Decode every frame completely. A frame may be larger than the header says."""
    total = 0
    for frame in range(frames_of(image)):
        try:
            image.seek(frame)
        except Image.DecompressionBombError:
            raise _too_many_pixels(max_pixels) from None
        pixels = image.width * image.height
        total += pixels
        if pixels > max_pixels or total > _MAX_FRAME_AREAS * max_pixels:
            raise _too_many_pixels(max_pixels)
        image.load()


def _orientation(image: Image.Image) -> int:
    try:
        found = image.getexif().get(_ORIENTATION, 1)
    except (SyntaxError, ValueError, OSError, KeyError, TypeError, struct.error):
        return 1  # unreadable camera data: not rotated
    return found if isinstance(found, int) and 1 <= found <= 8 else 1


def _is_srgb(image: Image.Image) -> bool:
    """Return whether the pixels are correct for readers that ignore profiles."""
    if image.mode == "CMYK":
        return False
    profile = image.info.get("icc_profile")
    if not profile:
        return True
    try:
        name = ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(BytesIO(profile)))
    except (ImageCms.PyCMSError, OSError, ValueError):
        return True  # a broken profile is ignored
    return "sRGB" in name


def _too_many_pixels(most: int) -> RuleViolation:
    return invalid(
        "file",
        _("The image is too large: at most %(most)s megapixels are allowed.")
        % {"most": f"{most / 1e6:g}"},
        code="too_many_pixels",
    )


def damaged_image_error() -> RuleViolation:
    return invalid("file", _("The file is damaged and cannot be read."), code="damaged_file")


def normalize_orientation(image: Image.Image) -> Image.Image:
    """Return the first frame in sRGB, upright; as RGBA if it has transparency."""
    image.load()
    profile = image.info.get("icc_profile")
    turned = ImageOps.exif_transpose(image) if _orientation(image) > 1 else image
    turned = _in_8_bits(turned)
    if turned.mode not in ("RGB", "RGBA", "L", "CMYK"):
        turned = turned.convert("RGBA" if turned.has_transparency_data else "RGB")
    if profile:
        turned = _to_srgb(turned, profile)
    if turned.mode in ("RGB", "RGBA"):
        return turned
    return turned.convert("RGBA" if turned.has_transparency_data else "RGB")


def _in_8_bits(image: Image.Image) -> Image.Image:
    if not image.mode.startswith("I"):
        return image
    # From 16 bits to 8: 65535 / 257 = 255.
    return image.convert("I").point(lambda value: value * (1 / 257)).convert("L")


def _to_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """Convert to sRGB, because without its profile the image would look dull. A broken profile is ignored."""
    # Profiles don't cover transparency, so alpha is set aside and added again.
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    bare = image.convert("RGB") if alpha is not None else image
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        converted = ImageCms.profileToProfile(
            bare, source, ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image
    if converted is not None and alpha is not None:
        converted.putalpha(alpha)
    return converted or image


def encode_image(image: Image.Image, kind: str) -> bytes:
    """Encode an upright image without metadata."""
    out = BytesIO()
    converted = image.convert("RGB") if kind == "JPEG" else image
    converted.save(out, kind, **_OPTIONS.get(kind, {}))
    return out.getvalue()


_SHORTEST_FRAME: Final = 11
_USUAL_FRAME: Final = 100
"""In milliseconds. Browsers show frames shorter than `_SHORTEST_FRAME` for `_USUAL_FRAME`."""


def encode_animation(
    content: bytes, kind: str, change: Callable[[Image.Image], Image.Image], **options: Any
) -> bytes:
    """Encode an animation with each frame changed by `change`, with the original durations and repetitions."""
    durations = []
    for image in _seek_each(content):
        time = float(image.info.get("duration") or 0)
        durations.append(round(time) if time >= _SHORTEST_FRAME else _USUAL_FRAME)
    # A GIF without a loop value is shown once, and with one that many more times. Other formats store the
    # number of times, 0 for endless.
    whole = _reopen(content)
    loop = whole.info.get("loop")
    times = 1 if loop is None else int(loop)
    if whole.format == "GIF" and loop:
        times += 1
    if kind == "GIF":
        options |= {"disposal": 2} | ({"loop": max(0, times - 1)} if times != 1 else {})
    else:
        options["loop"] = times
    out = BytesIO()
    frames = _Frames(content, change)
    next(frames.all()).save(
        out, kind, save_all=True, append_images=frames, duration=durations, **options
    )
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class _Frames:
    """The frames of an animation after the first one, decoded on demand, because an encoder may
    iterate more than once."""

    content: bytes
    change: Callable[[Image.Image], Image.Image]

    def __iter__(self) -> Iterator[Image.Image]:
        return islice(self.all(), 1, None)

    def all(self) -> Iterator[Image.Image]:
        size: tuple[int, int] | None = None
        for image in _seek_each(self.content):
            frame = _in_8_bits(image).convert("RGBA")
            size = size or frame.size
            if frame.size != size:  # a GIF frame may be larger than the first one
                frame = frame.crop((0, 0, *size))
            yield strip_metadata(self.change(frame))


def _seek_each(content: bytes) -> Iterator[Image.Image]:
    """Yield each frame in order. The file is reopened, because Pillow doesn't seek backwards reliably."""
    image = _reopen(content)
    # The default image of an APNG is for programs without animation support and is not a frame.
    for number in range(int(bool(image.info.get("default_image"))), frames_of(image)):
        image.seek(number)
        image.load()
        yield image


def _reopen(content: bytes) -> Image.Image:
    return Image.open(BytesIO(content), formats=list(_FORMATS))


def strip_metadata(image: Image.Image) -> Image.Image:
    """Return the pixels without `info`, which would be written to the file."""
    bare = image.copy()
    bare.info = {}
    return bare
