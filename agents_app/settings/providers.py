"""The providers that there are, and whether they can be used here. Never a key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from django.conf import settings
from django.utils.translation import gettext as _

from agents_app.models import AiSettings
from agents_app.providers.interface import DEMO_PROVIDER
from agents_app.providers.selection import (
    DEFAULT_MEDIA_MODELS,
    DEFAULT_MODELS,
    default_provider,
)
from agents_app.providers.vendors import VENDORS

Kind = Literal["text", "media"]


def provider_label(provider: str) -> str:
    """Return the name of a provider in the language that is active; of one that is no more its id."""
    if provider == DEMO_PROVIDER:
        return _("Demo (no AI)")
    vendor = VENDORS.get(provider)
    return str(vendor.label or vendor.name) if vendor else provider


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
        return provider_label(self.id)


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


def _provider(kind: Kind, id_: str, model: str) -> Provider:
    env, vendor = settings.CMS_ENV, VENDORS[id_]
    by_address = env.base_url(id_) and not env.api_key(id_)
    source = vendor.address_variable if by_address else vendor.main_variable
    return Provider(id_, kind, env.has_provider(id_), False, model, source)
