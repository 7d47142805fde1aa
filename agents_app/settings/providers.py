"""The providers that there are, and whether they can be used here. Never a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from django.conf import settings
from django.utils.translation import gettext_noop

from agents_app.models import AiSettings
from agents_app.providers.interface import DEMO_PROVIDER
from agents_app.providers.selection import (
    DEFAULT_MEDIA_MODELS,
    DEFAULT_MODELS,
    Vendor,
    default_provider,
)
from proofroom.core.i18n import in_words

Kind = Literal["text", "media"]
NAMES: Final[Mapping[str, str]] = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google",
    "ollama": gettext_noop("Ollama, or any server that speaks like OpenAI's"),
    DEMO_PROVIDER: gettext_noop("Demo (no AI)"),
}


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of text or media. `source` names the variable that makes it usable, or would."""

    id: str
    kind: Kind
    is_configured: bool
    is_default: bool
    default_model: str
    source: str

    @property
    def name(self) -> str:
        return in_words(NAMES[self.id])


def providers(row: AiSettings) -> list[Provider]:
    """All of them, text before media; `is_default` is the one that answers where an agent names none."""
    texts = [_provider("text", id_, model) for id_, model in DEFAULT_MODELS.items()]
    media = [_provider("media", id_, model) for id_, model in DEFAULT_MEDIA_MODELS.items()]
    first_media = next((item.id for item in media if item.is_configured), DEMO_PROVIDER)
    texts.append(Provider(DEMO_PROVIDER, "text", True, False, DEMO_PROVIDER, ""))
    media.append(Provider(DEMO_PROVIDER, "media", True, False, DEMO_PROVIDER, ""))
    default_text = row.text_provider or default_provider() or DEMO_PROVIDER
    default_media = row.media_provider or first_media
    return [
        *(replace(item, is_default=item.id == default_text) for item in texts),
        *(replace(item, is_default=item.id == default_media) for item in media),
    ]


def _provider(kind: Kind, id_: Vendor, model: str) -> Provider:
    env = settings.CMS_ENV
    prefix = f"AI_PROVIDER_{id_.upper()}"
    has_address = bool(env.base_url(id_))
    by_address = id_ == "ollama" or (has_address and not env.api_key(id_))
    source = f"{prefix}_BASE_URL" if by_address else f"{prefix}_API_KEY"
    return Provider(id_, kind, bool(env.api_key(id_) or has_address), False, model, source)
