"""Workflows as the wire has them."""

from __future__ import annotations

from core.json import Json
from webhooks.automation.reading import Workflow
from webhooks.presenters import Wire, brief
from webhooks.rules import MASK


def workflow(found: Workflow) -> Wire:
    """A workflow and its last run. Values of headers stay here."""
    definition = found.definition
    filters = definition.filters
    conditions: list[Json] = [
        {"field": item.field, "operator": item.operator, "value": item.value}
        for item in filters.conditions
    ]
    return {
        "id": definition.id,
        "name": definition.name,
        "description": definition.description,
        "enabled": found.is_enabled,
        "triggers": list(definition.triggers),
        "order": definition.order,
        "filters": {
            "types": list(filters.types),
            "locales": list(filters.locales),
            "formSlugs": list(filters.form_slugs),
            "conditions": conditions,
        },
        "url": definition.url,
        "headers": dict.fromkeys(definition.headers, MASK),
        "payload": definition.payload,
        "lastRun": None if found.last is None else brief(found.last),
    }
