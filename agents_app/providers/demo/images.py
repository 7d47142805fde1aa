"""The demo's images: the words of the prompt, drawn."""

from __future__ import annotations

import hashlib
import textwrap
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from agents_app.providers.demo.texts import LABEL, clean

_SIDE_LEAST: Final = 64
_SIDE_MOST: Final = 2048
_PALETTES: Final = (
    ("#0f3d3e", "#1d6f6b", "#e2f1ee"),
    ("#3a2150", "#6d3f94", "#f1e8f8"),
    ("#4a2410", "#96511f", "#fbeee0"),
    ("#12305a", "#2a5fa5", "#e6effa"),
    ("#2f3b16", "#5f7a2c", "#eef4df"),
)
"""Colors of background, shapes and text. The text has enough contrast on both."""
_WORDS_MOST: Final = 160
_LINES_MOST: Final = 4


def draw_placeholder(prompt: str, size: str) -> bytes:
    """Draw the demo's image: a PNG of that size (`1024x1024`) with the text of the prompt.

    The same prompt gives the same image.
    """
    first, _, second = size.partition("x")
    sides = [int(part) if part.isascii() and part.isdigit() else 1024 for part in (first, second)]
    width, height = (min(max(side, _SIDE_LEAST), _SIDE_MOST) for side in sides)
    digest = hashlib.sha256(prompt.encode("utf-8", "replace")).digest()
    ground, shapes, letters = _PALETTES[digest[0] % len(_PALETTES)]
    image = Image.new("RGB", (width, height), ground)
    draw = ImageDraw.Draw(image)
    for number in range(5):
        place = digest[number * 3 + 1 : number * 3 + 4]
        x, y = place[0] * width // 255, place[1] * height // 255
        radius = (place[2] % 100 + 40) * min(width, height) // 400
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=shapes)
    # The prompt in a band across the middle, and below it the note that no AI was involved.
    font, small = (ImageFont.load_default(max(width // part, 8)) for part in (22, 36))
    # The built-in font has Latin letters only and would draw boxes for others.
    words = clean(prompt)[:_WORDS_MOST].encode("latin-1", "ignore").decode("latin-1")
    text = "\n".join(textwrap.wrap(words, 32)[:_LINES_MOST]) or "A picture"
    box = draw.multiline_textbbox((width / 2, height / 2), text, font, "mm", align="center")
    top, bottom = box[1], box[3]
    pad = width // 24
    draw.rectangle((0, top - pad, width, bottom + pad * 2), fill=ground)
    draw.multiline_text((width / 2, height / 2), text, letters, font, "mm", align="center")
    draw.text((width / 2, bottom + pad), LABEL, letters, small, "mm")
    out = BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()
