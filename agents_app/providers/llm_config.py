"""`llmConfig` in an agent's file: the providers that answer, their models, the prompt and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field, SecretStr

from agents_app.providers.interface import DEMO_PROVIDER
from agents_app.providers.vendors import all_vendors
from proofroom.core.definition_files import DefinitionPart

_FALLBACK = tuple(id_ for id_, one in all_vendors().items() if one.text_model)
_TEXT = (*_FALLBACK, DEMO_PROVIDER)
_MEDIA = (*(id_ for id_, one in all_vendors().items() if one.media_model), DEMO_PROVIDER)
if TYPE_CHECKING:
    TextProvider: TypeAlias = str
    TextProviderOrNone: TypeAlias = str
    FallbackProvider: TypeAlias = str
    FallbackProviderOrNone: TypeAlias = str
    MediaProvider: TypeAlias = str
    MediaProviderOrNone: TypeAlias = str
else:
    TextProvider, TextProviderOrNone = Literal[*_TEXT], Literal[*_TEXT, ""]
    # The demo's rules must not answer in place of a model.
    FallbackProvider, FallbackProviderOrNone = Literal[*_FALLBACK], Literal[*_FALLBACK, ""]
    MediaProvider, MediaProviderOrNone = Literal[*_MEDIA], Literal[*_MEDIA, ""]


class Options(DefinitionPart):
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=200_000)


class LlmConfig(DefinitionPart):
    """Providers and prompt. `provider`/`model` are used where the Text and Media pairs are absent.

    `fallback_provider`/`fallback_model` take over during an outage of the text provider.
    """

    provider_text: TextProvider | None = None
    model_text: str | None = None
    provider_media: MediaProvider | None = None
    model_media: str | None = None
    fallback_provider: FallbackProvider | None = None
    fallback_model: str | None = None
    provider: TextProvider | None = None
    model: str | None = None
    api_key: SecretStr | None = None
    system_prompt: str = Field(min_length=1)
    options: Options = Options()
    use_mcp: bool = Field(default=False, alias="useMCP")
    allowed_mcp_tools: tuple[str, ...] = Field(default=(), alias="allowedMCPTools")
