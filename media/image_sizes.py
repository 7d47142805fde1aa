"""The sizes of an image that pages use, as WebP, for light and for dark pages. Works on bytes in memory."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Final

from PIL import Image

from media.dark_variants import darkened
from media.images import VARIANTS, upright, without_data
from media.models import Theme

_QUALITY: Final = 82
_METHOD: Final = 4
_SHARPNESS: Final = 2
"""How many times larger than the largest size a JPEG is decoded: as much as resampling can use."""


def variants_of(content: bytes, theme: str) -> Iterator[tuple[str, bytes]]:
    """Name and content of each size, from the largest; never enlarged. Of an animation, its first frame."""
    file = Image.open(BytesIO(content))
    if file.format == "JPEG":
        widest = _SHARPNESS * max(VARIANTS.values())
        file.draft("RGB", (widest, max(1, round(file.height * widest / file.width))))
    image = upright(file)
    if theme == Theme.DARK:
        image = darkened(image)
    for name, width in VARIANTS.items():
        if image.width > width:
            height = max(1, round(image.height * width / image.width))
            image = image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)
        out = BytesIO()
        without_data(image).save(out, "WEBP", quality=_QUALITY, method=_METHOD)
        yield name, out.getvalue()
