"""Images for dark pages.

- A picture without transparency is dimmed, its brightest parts most: a white ground no longer dazzles, and shadows
  keep what they show. It is never turned into a negative.
- A drawing on a transparent ground (a logo, an icon: few colours) that is dark would vanish on a dark page. Its
  lightness is turned over, its hues stay. One that is light already stays as it is.
- A photo that was cut out is dimmed like other photos.
"""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageChops, ImageStat

_DIMMED: Final = 0.22
"""How much of its brightness white loses; black loses none."""
_MOST_COLOURS: Final = 48
_SAMPLE: Final = (64, 64)
_MIDDLE: Final = 128
_SEEN: Final = 64
"""The opacity from which a pixel counts, of 255."""


def darkened(image: Image.Image) -> Image.Image:
    """An image of the mode RGB or RGBA for a dark page, in the same mode and size."""
    if image.mode != "RGBA" or image.getchannel("A").getextrema()[0] == 255:
        return _dimmed(image)
    if not _is_drawing(image):
        return _dimmed(image)
    return _turned_over(image) if _is_dark(image) else image


def _dimmed(image: Image.Image) -> Image.Image:
    curve = [round(value * (1 - _DIMMED * value / 255)) for value in range(256)]
    alpha = list(range(256))
    return image.point(curve * 3 + (alpha if image.mode == "RGBA" else []))


def _is_drawing(image: Image.Image) -> bool:
    """Whether what is seen has few colours, shades of one colour counted as one."""
    sample = image.resize(_SAMPLE, Image.Resampling.NEAREST)
    seen = {
        tuple(part >> 5 for part in pixel[:3])
        for _, pixel in sample.getcolors(_SAMPLE[0] * _SAMPLE[1]) or []
        if isinstance(pixel, tuple) and pixel[3] >= _SEEN
    }
    return len(seen) <= _MOST_COLOURS


def _is_dark(image: Image.Image) -> bool:
    seen = image.getchannel("A").point(lambda alpha: 255 if alpha >= _SEEN else 0)
    if seen.getbbox() is None:
        return False
    return ImageStat.Stat(image.convert("L"), mask=seen).mean[0] < _MIDDLE


def _turned_over(image: Image.Image) -> Image.Image:
    """Each pixel with its hue and saturation and the opposite lightness: max + min of a pixel's parts becomes
    510 - max - min, so each part moves by the same amount."""
    *parts, alpha = image.split()
    most = ImageChops.lighter(ImageChops.lighter(parts[0], parts[1]), parts[2])
    least = ImageChops.darker(ImageChops.darker(parts[0], parts[1]), parts[2])
    turned = [
        ImageChops.invert(ImageChops.add(ImageChops.subtract(most, part), least)) for part in parts
    ]
    return Image.merge("RGBA", [*turned, alpha])
