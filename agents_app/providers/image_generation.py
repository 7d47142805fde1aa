"""Images made by the selected provider or drawn by the demo. Import it in the worker only."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from io import BytesIO
from threading import Event
from typing import Final

from django.conf import settings
from PIL import Image, ImageDraw, ImageFont
from pydantic_ai.exceptions import ContentFilterError, UnexpectedModelBehavior
from pydantic_ai.images.base import ImageGenerationModel
from pydantic_ai.images.result import ImageGenerationResult
from pydantic_ai.images.settings import ImageGenerationSettings

from agents_app.providers.connection import ProviderConnection, RequestFailure, failed, refused
from agents_app.providers.demo.texts import LABEL, clean
from agents_app.providers.interface import (
    ANSWER_TOKENS_LIMIT,
    DEMO_PROVIDER,
    ProviderChoice,
    ProviderError,
    ProviderTimeout,
)
from agents_app.providers.model_requests import RETRY_PAUSES, wait_for_next_try
from agents_app.providers.prices import image_cost
from agents_app.providers.vendor import access_to
from agents_app.providers.vendors import find_vendor

SQUARE: Final = "1024x1024"
_SHAPES: Final[Mapping[str, ImageGenerationSettings]] = {
    SQUARE: {"aspect_ratio": "1:1"},
    "1536x1024": {"aspect_ratio": "3:2"},
    "1024x1536": {"aspect_ratio": "2:3"},
}
SIZES: Final = tuple(_SHAPES)
"""Allowed sizes, width x height. A provider may only approximate the size, but keeps the shape."""


@dataclass(frozen=True, slots=True)
class MadeImage:
    """An image in a common format. `cost`: US dollars, None if the price is unknown."""

    data: bytes = field(repr=False)
    cost: Decimal | None
    input_tokens: int = 0
    output_tokens: int = 0


def make_image(
    choice: ProviderChoice, *, prompt: str, size: str = SQUARE, seconds: float
) -> MadeImage:
    """Generate one image from the prompt. Raises `ProviderError`."""
    if size not in _SHAPES:
        raise ProviderError(f"There is no size {size!r}; the sizes are {', '.join(SIZES)}.")
    if choice.provider == DEMO_PROVIDER:
        return MadeImage(draw_placeholder(prompt, size), Decimal(0))
    if seconds <= 0:
        raise RequestFailure(ProviderTimeout("The time of the run is over.")).error
    with ProviderConnection(choice.provider, seconds, Event()) as line:
        vendor = find_vendor(choice.provider)
        model = vendor.make_image_model(choice.model, access_to(vendor, choice, line.client))
        shape = vendor.image_settings(size, _SHAPES[size])
        result = _asked(line, model, choice, prompt, shape)
    data = result.image.data
    most = settings.CMS_ENV.media_max_bytes
    if len(data) > most:
        sentence = f"The image of {choice.provider} is larger than {most / 1024 / 1024:g} MB."
        raise RequestFailure(ProviderError(f"{sentence} (MEDIA_MAX_BYTES)"), worked=True).error
    sent = min(result.usage.input_tokens, ANSWER_TOKENS_LIMIT)
    got = min(result.usage.output_tokens, ANSWER_TOKENS_LIMIT)
    cost = image_cost(choice, size, input_tokens=sent, output_tokens=got)
    return MadeImage(data, cost, sent, got)


def _asked(
    line: ProviderConnection,
    model: ImageGenerationModel,
    choice: ProviderChoice,
    prompt: str,
    shape: ImageGenerationSettings,
) -> ImageGenerationResult:
    """Return the provider's answer. Retries only if the provider surely made nothing, because each image costs."""
    for pause in RETRY_PAUSES:
        try:
            return _try(line, model, choice, prompt, shape)
        except RequestFailure as error:
            if error.worked:
                raise error.error from None
            wait_for_next_try(error, pause, line, choice)
    try:
        return _try(line, model, choice, prompt, shape)
    except RequestFailure as error:
        raise error.error from None


def _try(
    line: ProviderConnection,
    model: ImageGenerationModel,
    choice: ProviderChoice,
    prompt: str,
    shape: ImageGenerationSettings,
) -> ImageGenerationResult:
    try:
        return line.wait(model.generate(prompt, settings=shape))
    except ProviderError:
        raise
    except ContentFilterError:
        raise refused(choice) from None
    except UnexpectedModelBehavior:
        raise RequestFailure(
            ProviderError(f"{choice.provider} made no picture."), worked=True
        ) from None
    except Exception as error:
        raise failed(error, choice) from None


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
