"""Files to upload, and checks for leftovers."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from PIL import Image, ImageDraw

from media.models import Asset, StoredFile
from media.services.files import store_image
from proofroom.core.errors import CmsError
from tests import make

KINDS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF")


def picture(kind: str = "JPEG", size: tuple[int, int] = (2000, 1000), mode="RGB", **options: Any):
    """Return an image with a red left and a blue right half."""
    image = Image.new(mode, size, "red")
    ImageDraw.Draw(image).rectangle((size[0] // 2, 0, *size), fill="blue")
    return encoded(image, kind, **options)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def moving(kind: str, colours=("red", "green", "blue"), size=(50, 50), **options: Any) -> bytes:
    frames = [Image.new("RGB", size, colour) for colour in colours]
    return encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def grey_png(width: int, height: int) -> bytes:
    """Return a black image of one bit per pixel: few bytes for many pixels."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes((width + 7) // 8 + 1) * height, 1)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def store(content: bytes, filename: str = "a.jpg", **more: Any) -> Asset:
    actor = more.pop("actor", None) or make.actor()
    asset = store_image(file=BytesIO(content), filename=filename, actor=actor, **more)
    asset.refresh_from_db()
    return asset


def on_disk() -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def opened(name: object) -> Image.Image:
    return Image.open(Path(settings.MEDIA_ROOT) / str(name))


def refused(content: bytes, code: str, **more: Any) -> CmsError:
    """Return the service's error, and check that no file and no row remains."""
    with pytest.raises(CmsError) as caught:
        store(content, **more)
    assert caught.value.code == code
    assert on_disk() == []
    assert not Asset.objects.exists()
    assert not StoredFile.objects.exists()
    return caught.value
