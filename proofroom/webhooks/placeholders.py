"""Templates with placeholders such as `{{data.slug}}`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from proofroom.core.conditions import value_at
from proofroom.core.json import Json

PLACEHOLDER: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_PATH: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_MAX_PATH_LENGTH: Final = 200


def placeholders(template: JsonValue) -> Iterator[str]:
    """Yield the path of every placeholder in the texts of a template."""
    if isinstance(template, str):
        yield from PLACEHOLDER.findall(template)
    elif isinstance(template, dict):
        for value in template.values():
            yield from placeholders(value)
    elif isinstance(template, list):
        for value in template:
            yield from placeholders(value)


def placeholder_problem(template: JsonValue, roots: frozenset[str]) -> str:
    """Return the problem of a template's placeholders, as a sentence; "" if there is none."""
    for path in placeholders(template):
        if len(path) > _MAX_PATH_LENGTH or not _PATH.fullmatch(path):
            return f"the placeholder {{{{{path[:60]}}}}} is no path such as data.slug"
        if path.partition(".")[0] not in roots:
            known = ", ".join(sorted(roots))
            return f"the placeholder {{{{{path[:60]}}}}} must begin with one of: {known}"
    return ""


def filled(template: JsonValue, values: Mapping[str, Json]) -> Json:
    """Return the template with every placeholder replaced.

    A text that is only one placeholder becomes the value, with its type; within a longer text, it becomes a string. A
    missing value becomes null, or nothing within a text.
    """
    if isinstance(template, str):
        alone = PLACEHOLDER.fullmatch(template)
        if alone is not None:
            found: Json = value_at(values, alone[1])  # type: ignore[assignment]  # of values, which are JSON
            return found
        # `sub` does not scan its own output, so a visitor's text with `{{…}}` stays text.
        return PLACEHOLDER.sub(lambda match: words_of(value_at(values, match[1])), template)
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    return template


def words_of(value: object) -> str:
    """Return a value as part of a text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
