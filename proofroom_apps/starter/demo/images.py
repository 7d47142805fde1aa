"""Abstract pictures, drawn instead of downloaded. The same name always gives the same bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from io import BytesIO
from random import Random
from typing import Final

from PIL import Image, ImageDraw, ImageFilter

WIDTH: Final = 1280
HEIGHT: Final = 800
_SCALE: Final = 2
"""Factor by which a picture is drawn larger, then reduced for smooth edges."""
_W: Final = WIDTH * _SCALE
_H: Final = HEIGHT * _SCALE

Colours = Sequence[str]


def draw(scene: str, name: str) -> bytes:
    """Return a JPEG of 1280 by 800 pixels. Raises `KeyError` for an unknown scene."""
    # Not for secrets: the same seed must give the same picture.
    image = _SCENES[scene](Random(name))  # noqa: S311
    out = BytesIO()
    image.resize((WIDTH, HEIGHT), Image.Resampling.BOX).save(out, "JPEG", quality=88)
    return out.getvalue()


def _sky(top: str, bottom: str) -> Image.Image:
    mask = Image.linear_gradient("L").resize((_W, _H))
    return Image.composite(
        Image.new("RGB", (_W, _H), bottom), Image.new("RGB", (_W, _H), top), mask
    )


def _wave(random: Random, base: float, height: float) -> list[tuple[float, float]]:
    """Return the points of a soft line from left to right around `base`."""
    phases = [(random.uniform(0, 6.3), random.uniform(0.6, 1.4) * k) for k in (1.1, 2.3, 4.1)]
    points = []
    for x in range(0, _W + 16, 16):
        swing = sum(
            math.sin(x / _W * 6.3 * pace + phase) / (number + 1.2)
            for number, (phase, pace) in enumerate(phases)
        )
        points.append((float(x), base + height * swing))
    return points


def _hills(
    image: Image.Image, random: Random, colours: Colours, begin: float, swing: float
) -> None:
    pen = ImageDraw.Draw(image)
    step = (1.02 - begin) / len(colours)
    for number, colour in enumerate(colours):
        line = _wave(random, _H * (begin + step * number), _H * swing)
        pen.polygon([*line, (_W, _H), (0, _H)], fill=colour)


def _disc(image: Image.Image, x: float, y: float, radius: float, colour: str) -> None:
    x, y, radius = x * _W, y * _H, radius * _H
    ImageDraw.Draw(image).ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def _steam(random: Random) -> Image.Image:
    image = _sky("#f3e3cf", "#e2b98f")
    for number in range(5):
        veil = Image.new("L", (_W, _H), 0)
        x = _W * (0.26 + 0.11 * number)
        line = [(x + y - _H * 0.5, _x) for _x, y in _wave(random, _H * 0.5, _H * 0.05)]
        ImageDraw.Draw(veil).line(line, fill=150 - 18 * number, width=int(_W * 0.05), joint="curve")
        soft = veil.resize((_W // 8, _H // 8)).filter(ImageFilter.GaussianBlur(9)).resize((_W, _H))
        image.paste(Image.new("RGB", (_W, _H), "#fffaf2"), mask=soft)
    _hills(image, random, ("#a8673c", "#7c4426", "#532b18", "#331a10"), 0.62, 0.05)
    return image


def _grains(random: Random) -> Image.Image:
    image = _sky("#f4ead9", "#e7d3b6")
    pen = ImageDraw.Draw(image)
    colours = ("#4a2a18", "#6b3f24", "#8a5733", "#b07f52", "#2f1b11")
    for _ in range(1500):
        x = random.random()
        # From dust on the left to boulders on the right.
        radius = (2 + 46 * x**2 * random.uniform(0.5, 1)) * _SCALE
        left, top = x * _W - radius, random.random() * _H - radius
        width = radius * random.uniform(1.4, 2)
        pen.ellipse((left, top, left + width, top + radius * 2), fill=random.choice(colours))
    return image


def _garden(random: Random) -> Image.Image:
    image = _sky("#dcebe4", "#f6eed8")
    _disc(image, 0.72, 0.3, 0.11, "#fbf6e4")
    _hills(image, random, ("#a9c7a1", "#7fab7d", "#57895c", "#356544", "#1f4632"), 0.42, 0.06)
    return image


def _strata(random: Random) -> Image.Image:
    image = _sky("#d9e3c6", "#c5d2a4")
    colours = ("#7d9a4e", "#a37f4a", "#8a6238", "#6d4a2b", "#523620", "#3a2617", "#25180f")
    _hills(image, random, colours, 0.2, 0.035)
    pen = ImageDraw.Draw(image)
    for _ in range(500):
        x, y, size = random.random() * _W, _H * random.uniform(0.34, 1), random.uniform(3, 11)
        tint = random.choice(("#c9a877", "#94b06a", "#e0cba4"))
        pen.ellipse((x, y, x + size * 2.2, y + size), fill=tint)
    return image


def _road(random: Random) -> Image.Image:
    image = _sky("#f2c9a1", "#f8e7cf")
    _disc(image, 0.6, 0.4, 0.1, "#fff4df")
    _hills(image, random, ("#9db4c8", "#6f90ad", "#476f90", "#2b5172"), 0.42, 0.04)
    left, right = [], []
    for step in range(101):
        depth = step / 100
        middle = 0.6 + 0.17 * math.sin(depth * 5.2) * (0.25 + depth) - 0.12 * depth
        y, half = _H * (0.56 + 0.46 * depth**1.5), _W * (0.004 + 0.085 * depth**1.7)
        left.append((_W * middle - half, y))
        right.append((_W * middle + half, y))
    ImageDraw.Draw(image).polygon([*left, *reversed(right)], fill="#efe3d0")
    return image


def _rings(random: Random) -> Image.Image:
    image = _sky("#27333d", "#3d4f5c")
    pen = ImageDraw.Draw(image)
    size = _H * 0.3
    for row in range(-1, 5):
        for column in range(-1, 8):
            x, y = column * size * 0.78 + (row % 2) * size * 0.39, row * size * 0.7
            colour = random.choice(("#c98a5b", "#8fa3b0", "#5f7686", "#e0b48c"))
            width = int(size * 0.075)
            pen.ellipse((x, y, x + size, y + size), outline=colour, width=width)
    return image


def _frost(random: Random) -> Image.Image:
    image = _sky("#b9cfdf", "#eef3f5")
    _disc(image, 0.28, 0.3, 0.09, "#ffffff")
    _hills(image, random, ("#cddbe5", "#a7bfd0", "#7f9fb6", "#5a7f99", "#3b5f7a"), 0.46, 0.05)
    for _ in range(120):
        _disc(image, random.random(), random.random(), random.uniform(0.0015, 0.005), "#ffffff")
    return image


def _sunrise(random: Random) -> Image.Image:
    image = _sky("#f7d9b5", "#fbeedb")
    _disc(image, 0.55, 0.46, 0.24, "#e8894a")
    _hills(image, random, ("#d4754a", "#b3573a", "#84402f", "#562b26"), 0.56, 0.05)
    return image


def _mark(random: Random) -> Image.Image:
    """Return a company logo on white."""
    image = Image.new("RGB", (_W, _H), "#ffffff")
    pen = ImageDraw.Draw(image)
    dark, light = random.choice(
        (("#1f4a5c", "#d98e4a"), ("#5a2f4d", "#7fb08a"), ("#234a34", "#e0b04c"))
    )
    size, x, y = _H * 0.56, _W * 0.5, _H * 0.5
    for number in range(3):
        left, shift = x + (number - 1) * size * 0.8 - size / 2, random.uniform(-0.25, 0.25) * size
        box = (left, y - size / 2 + shift, left + size * 0.72, y + size / 2 + shift)
        colour = light if number == 1 else dark
        shape = random.choice((pen.ellipse, pen.rectangle))
        shape(box, fill=colour)
    return image


_SCENES: Final[dict[str, Callable[[Random], Image.Image]]] = {
    "steam": _steam,
    "grains": _grains,
    "hills": _garden,
    "strata": _strata,
    "road": _road,
    "rings": _rings,
    "frost": _frost,
    "sunrise": _sunrise,
    "mark": _mark,
}
