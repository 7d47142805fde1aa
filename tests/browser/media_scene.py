"""Files for screenshots: of each kind, with and without texts, with various names."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

from PIL import Image, ImageDraw

from media.models import Asset
from tests import make
from tests.media.pictures import encoded, store

NAMES = (
    "harbour-at-dawn.jpg",
    "roastery.jpg",
    "filter-and-kettle.png",
    "a-very-long-name-that-a-camera-made-and-nobody-ever-shortened-20261122-151545-DSC00012-edited-final.jpg",
    "<b>bold</b>.png",
    "beans.jpg",
    "cups-on-a-shelf.jpg",
    "evening-light.jpg",
)
_SHAPES = ((900, 600), (600, 900), (800, 800), (1200, 500))


def drawn(number: int, size: tuple[int, int] = (900, 600)) -> Image.Image:
    """Draw a sky and a sun in given colors."""
    image = Image.new("RGB", size)
    pen = ImageDraw.Draw(image)
    for y in range(0, size[1], 4):
        part = y / size[1]
        colour = colorsys.hsv_to_rgb((number * 0.13 + part * 0.2) % 1, 0.55, 0.5 + 0.4 * part)
        pen.rectangle((0, y, size[0], y + 4), fill=tuple(round(255 * each) for each in colour))
    across, down, wide = size[0] * 0.55, size[1] * 0.2, min(size) * 0.35
    pen.ellipse((across, down, across + wide, down + wide), fill=(250, 240, 210))
    return image


def library(names: Sequence[str] = NAMES) -> list[Asset]:
    """Create eight images and a document; a post uses the first."""
    made = []
    for number, name in enumerate(names):
        kind = "PNG" if name.endswith("png") else "JPEG"
        content = encoded(drawn(number, _SHAPES[number % 4]), kind)
        said = "A sun above the water" if number % 2 else ""
        made.append(store(content, name, alt_text=said, categories=["coffee"] * (number % 3 > 0)))
    made.append(store(b"%PDF-1.7 x %%EOF", "menu.pdf"))
    make.post(title="Walls of the city", featuredMediaId=str(made[0].pk))
    return made
