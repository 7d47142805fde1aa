"""The AI library's models for a choice, each over its vendor's own protocol. Import it in the worker only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypedDict

import httpx2
from pydantic_ai import ModelSettings

from agents_app.providers.interface import ProviderChoice, ProviderError

if TYPE_CHECKING:
    from pydantic_ai.images.base import ImageGenerationModel
    from pydantic_ai.models import Model

_ADDRESSES: Final = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
"""Said outright: the vendors' own packages would else look for an address in variables that nobody here documents."""


class _Reached(TypedDict):
    api_key: str
    base_url: str
    http_client: httpx2.AsyncClient


def model_of(choice: ProviderChoice, client: httpx2.AsyncClient) -> Model:
    """The model that answers with words."""
    reached = _reached(choice, client)
    if choice.provider == "openai":
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(choice.model, provider=OpenAIProvider(**reached))
    if choice.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(choice.model, provider=AnthropicProvider(**reached))
    if choice.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(choice.model, provider=GoogleProvider(**reached))
    if choice.provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(choice.model, provider=OllamaProvider(**reached))
    raise ProviderError(f"There is no text provider {choice.provider!r}.")


def image_model_of(choice: ProviderChoice, client: httpx2.AsyncClient) -> ImageGenerationModel:
    """The model that answers with a picture."""
    reached = _reached(choice, client)
    if choice.provider == "openai":
        from pydantic_ai.images.openai import OpenAIImageGenerationModel
        from pydantic_ai.providers.openai import OpenAIProvider

        provider = OpenAIProvider(**reached)
        provider.client.max_retries = 0
        return OpenAIImageGenerationModel(choice.model, provider=provider)
    if choice.provider == "google":
        from pydantic_ai.images.google import GoogleImageGenerationModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleImageGenerationModel(choice.model, provider=GoogleProvider(**reached))
    raise ProviderError(f"There is no media provider {choice.provider!r}.")


def settings_for(
    choice: ProviderChoice, *, max_tokens: int, temperature: float | None
) -> ModelSettings:
    """Return the settings of every request. The vendors' packages retry nothing: one place here decides that."""
    chosen = ModelSettings(max_tokens=max_tokens, max_retries=0)
    if temperature is not None:
        chosen["temperature"] = temperature
    if choice.provider == "anthropic":
        # Tools and instructions repeat in every step of a run, so writing them to the cache pays at the second.
        return {**chosen, "anthropic_cache_instructions": True}  # type: ignore[typeddict-unknown-key]
    return chosen


def address_of(choice: ProviderChoice) -> str:
    """Return the address of the provider. Raises `ProviderError`."""
    address = choice.base_url or _ADDRESSES.get(choice.provider)
    if address is None:
        name = choice.provider.upper()
        raise ProviderError(f"{choice.provider} has no address. Set AI_PROVIDER_{name}_BASE_URL.")
    return address


def _reached(choice: ProviderChoice, client: httpx2.AsyncClient) -> _Reached:
    address = address_of(choice)
    # Servers without keys still need the header to hold something.
    return {"api_key": choice.key or "none", "base_url": address, "http_client": client}
