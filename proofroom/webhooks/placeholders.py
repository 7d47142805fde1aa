"""Texts with placeholders such as `{{data.slug}}`, filled with what happened."""

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
_LONGEST_PATH: Final = 200


def placeholders(template: JsonValue) -> Iterator[str]:
    """The path of every placeholder in every text of the template."""
    if isinstance(template, str):
        yield from PLACEHOLDER.findall(template)
    elif isinstance(template, dict):
        for value in template.values():
            yield from placeholders(value)
    elif isinstance(template, list):
        for value in template:
            yield from placeholders(value)


def fault_of(template: JsonValue, roots: frozenset[str]) -> str:
    """Return what is wrong with the placeholders of a template, as a sentence; empty where nothing is."""
    for path in placeholders(template):
        if len(path) > _LONGEST_PATH or not _PATH.fullmatch(path):
            return f"the placeholder {{{{{path[:60]}}}}} is no path such as data.slug"
        if path.partition(".")[0] not in roots:
            known = ", ".join(sorted(roots))
            return f"the placeholder {{{{{path[:60]}}}}} begins with none of: {known}"
    return ""


def filled(template: JsonValue, values: Mapping[str, Json]) -> Json:
    """The template with every placeholder filled once: what is put in is never looked at again.

    A text that is one placeholder becomes the value, of whatever type; in a longer text it becomes words. What is
    not there is null, and in a longer text nothing.
    """
    if isinstance(template, str):
        alone = PLACEHOLDER.fullmatch(template)
        if alone is not None:
            found: Json = value_at(values, alone[1])  # type: ignore[assignment]  # of values, which are JSON
            return found
        return PLACEHOLDER.sub(lambda match: words_of(value_at(values, match[1])), template)
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    return template


def words_of(value: object) -> str:
    """A value as it stands in the middle of a text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
