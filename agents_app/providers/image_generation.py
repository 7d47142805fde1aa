"""Images, made by the chosen provider or drawn by the demo. Import it in the worker only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from threading import Event
from typing import Final

from django.conf import settings
from pydantic_ai.exceptions import ContentFilterError, UnexpectedModelBehavior
from pydantic_ai.images.base import ImageGenerationModel
from pydantic_ai.images.result import ImageGenerationResult
from pydantic_ai.images.settings import ImageGenerationSettings

from agents_app.providers.connection import ProviderConnection, RequestFailure, failed, refused
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
"""Width and height that may be asked for. A provider may come near it only; the shape is kept."""


@dataclass(frozen=True, slots=True)
class MadeImage:
    """A picture, as bytes of a common format. `cost` is in US dollars, None where nobody knows the price."""

    data: bytes = field(repr=False)
    cost: Decimal | None
    input_tokens: int = 0
    output_tokens: int = 0


def make_image(
    choice: ProviderChoice, *, prompt: str, size: str = SQUARE, seconds: float
) -> MadeImage:
    """One picture of what the prompt says. Raises `ProviderError`."""
    if size not in _SHAPES:
        raise ProviderError(f"There is no size {size!r}; the sizes are {', '.join(SIZES)}.")
    if choice.provider == DEMO_PROVIDER:
        from agents_app.providers.demo import placeholder_images

        return MadeImage(placeholder_images.make_image(prompt, size), Decimal(0))
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
    """The provider's answer. It is asked again only where it surely made nothing: each picture costs."""
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
