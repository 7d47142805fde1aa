"""The AI settings as the wire has them. Never a key."""

from __future__ import annotations

from agents_app.models import AiSettings
from agents_app.providers.prices import price_list
from agents_app.settings.providers import Provider, providers
from content.store import iso
from core.json import JsonObject


def ai_settings(row: AiSettings) -> JsonObject:
    return {
        "textProvider": row.text_provider or None,
        "textModel": row.text_model or None,
        "mediaProvider": row.media_provider or None,
        "mediaModel": row.media_model or None,
        "version": row.version,
        "updatedAt": iso(row.updated_at),
        "pricesDate": price_list().date.isoformat(),
        "providers": [_provider(item) for item in providers(row)],
    }


def _provider(item: Provider) -> JsonObject:
    return {
        "id": item.id,
        "name": item.name,
        "kind": item.kind,
        "configured": item.is_configured,
        "default": item.is_default,
        "defaultModel": item.default_model,
        "variable": item.source or None,
    }
