"""Images made by the models of the AI library."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import Final

from django.conf import settings
from pydantic_ai.exceptions import ContentFilterError, UnexpectedModelBehavior
from pydantic_ai.images.base import ImageGenerationModel
from pydantic_ai.images.result import ImageGenerationResult
from pydantic_ai.images.settings import ImageGenerationSettings

from agents_app.providers.connection import ProviderConnection, RequestFailure
from agents_app.providers.images import SQUARE, MadeImage
from agents_app.providers.interface import ANSWER_TOKENS_LIMIT, ProviderChoice, ProviderError
from agents_app.providers.model_requests import RETRY_PAUSES, wait_for_next_try
from agents_app.providers.prices import image_cost
from agents_app.providers.request_errors import failed, refused
from agents_app.providers.vendor import access_to
from agents_app.providers.vendors import find_vendor

_SHAPES: Final[Mapping[str, ImageGenerationSettings]] = {
    SQUARE: {"aspect_ratio": "1:1"},
    "1536x1024": {"aspect_ratio": "3:2"},
    "1024x1536": {"aspect_ratio": "2:3"},
}


def ask_for_image(choice: ProviderChoice, *, prompt: str, size: str, seconds: float) -> MadeImage:
    """Return the image of the provider's model. Raises `ProviderError`."""
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
            ProviderError(f"{choice.provider} generated no image."), worked=True
        ) from None
    except Exception as error:
        raise failed(error, choice) from None
