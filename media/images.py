"""Images: decoded safely, oriented, stripped of metadata, in the sizes that pages use.

Everything here works on bytes in memory; nothing touches the storage or the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from core.errors import RuleViolation, invalid

VARIANTS: Final[Mapping[str, int]] = {"large": 1600, "medium": 800, "small": 400}
"""The widest that each variant is, in pixels; from the largest, since each is made from the one before."""

_FORMATS: Final[Mapping[str, tuple[str, str]]] = {
    "JPEG": ("image/jpeg", ".jpg"),
    "PNG": ("image/png", ".png"),
    "WEBP": ("image/webp", ".webp"),
    "GIF": ("image/gif", ".gif"),
    "AVIF": ("image/avif", ".avif"),
}
_QUALITY: Final = 82
_ORIGINAL_QUALITY: Final = 90
_MOST_FRAMES: Final = 300
_KINDS: Final = "JPEG, PNG, WebP, GIF, AVIF or PDF"


@dataclass(frozen=True, slots=True)
class Encoded:
    """A file as it is to be stored. `width` and `height` are pixels as the image is seen."""

    content: bytes
    mime: str
    suffix: str
    width: int
    height: int
    variants: Mapping[str, bytes]


def encode(content: bytes, *, max_pixels: int) -> Encoded:
    """The image without metadata, upright, with its variants as WebP.

    The type is that of the content, whatever a name says. Raises `RuleViolation` on `file` for what is no image
    of a known type, is damaged, or has more pixels (over all frames) than allowed.
    """
    image = _open(content, max_pixels)
    kind = str(image.format)
    is_animated = getattr(image, "n_frames", 1) > 1
    mime, suffix = _FORMATS[kind]
    try:
        # A GIF has no place for a camera's data, and encoding it again would only cost colours.
        original = content if kind == "GIF" else _original(image, kind, is_animated)
        image.seek(0)
        upright = _upright(image)
        variants = _variants(upright)
    except MemoryError:
        raise
    except Exception as error:
        # A decoder fails in as many ways as files are broken: OSError, SyntaxError, ValueError, zlib.error, …
        raise _damaged() from error
    return Encoded(original, mime, suffix, upright.width, upright.height, variants)


def _open(content: bytes, max_pixels: int) -> Image.Image:
    """The image with only its header read: how large it will be is known before it is decoded."""
    try:
        image = Image.open(BytesIO(content), formats=list(_FORMATS))
        pixels = image.width * image.height
        frames = getattr(image, "n_frames", 1) if pixels <= max_pixels else 1
    except Image.DecompressionBombError:
        raise _too_many_pixels(max_pixels) from None
    except UnidentifiedImageError:
        raise invalid(
            "file", f"This is no {_KINDS}, whatever its name says.", code="media_type"
        ) from None
    except Exception as error:
        raise _damaged() from error
    if pixels > max_pixels or frames > _MOST_FRAMES or pixels * frames > 4 * max_pixels:
        raise _too_many_pixels(max_pixels)
    return image


def _too_many_pixels(most: int) -> RuleViolation:
    return invalid(
        "file",
        f"The image is too large: at most {most / 1e6:g} megapixels are allowed.",
        code="too_many_pixels",
    )


def _damaged() -> RuleViolation:
    return invalid(
        "file", "The file is damaged: it cannot be read to its end.", code="damaged_file"
    )


def _upright(image: Image.Image) -> Image.Image:
    """The first frame as sRGB with the camera's orientation applied; RGBA where something is transparent."""
    image.load()
    turned = ImageOps.exif_transpose(image)
    profile = turned.info.get("icc_profile")
    if profile and turned.mode in ("RGB", "CMYK", "L"):
        turned = _to_srgb(turned, profile)
    if turned.mode in ("RGB", "RGBA"):
        return turned
    return turned.convert("RGBA" if turned.has_transparency_data else "RGB")


def _to_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """Without its profile an image of another colour space would look dull; a broken profile changes nothing."""
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        converted = ImageCms.profileToProfile(
            image, source, ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image
    return converted or image


def _original(image: Image.Image, kind: str, is_animated: bool) -> bytes:
    out = BytesIO()
    if is_animated:
        image.save(out, kind, save_all=True, exif=b"", xmp=b"", icc_profile=None)
        return out.getvalue()
    bare = _bare(_upright(image), kind)
    # Lossless stays lossless; the rest is encoded once more, at a quality that shows no difference.
    options = {"optimize": True} if kind in ("JPEG", "PNG") else {}
    bare.save(out, kind, quality=_ORIGINAL_QUALITY, **options)
    return out.getvalue()


def _bare(image: Image.Image, kind: str) -> Image.Image:
    """The pixels alone: what `info` carries would be written into the file again."""
    bare = image.convert("RGB") if kind == "JPEG" else image.copy()
    bare.info = {}
    return bare


def _variants(image: Image.Image) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, width in VARIANTS.items():
        if image.width > width:
            height = max(1, round(image.height * width / image.width))
            image = image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)
        out = BytesIO()
        _bare(image, "WEBP").save(out, "WEBP", quality=_QUALITY, method=4)
        found[name] = out.getvalue()
    return found
