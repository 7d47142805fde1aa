"""Texts of reactions with placeholders such as `{{result.slug}}`, filled with what became of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import orjson
from pydantic import JsonValue

from proofroom.core.conditions import value_at
from proofroom.core.json import Json
from proofroom.webhooks.placeholders import PLACEHOLDER, fault_of, filled, words_of

ROOTS: Final = frozenset({"agent", "run", "result", "data"})
"""What placeholders and conditions may begin with."""
SHORT: Final[Mapping[str, str]] = {"agent": "agent.name", "run": "run.id"}
"""Placeholders that stand for one of their parts."""
JSON_TYPE: Final = "application/json"
TEXT_TYPE: Final = "text/plain; charset=utf-8"


def check_template(template: JsonValue) -> None:
    """Raise `ValueError` where a placeholder of the template names nothing that a run has."""
    fault = fault_of(template, ROOTS)
    if fault:
        raise ValueError(fault)


def path_in_full(path: str) -> str:
    """The path where the value stands: `agent` is short for its name, `run` for its id."""
    return SHORT.get(path, path)


def fill_params(params: Mapping[str, JsonValue], values: Mapping[str, Json]) -> dict[str, Json]:
    """A text that is one placeholder becomes the value with its type; in a longer text it becomes words."""
    return {name: filled(_in_full(value), values) for name, value in params.items()}


def fill_text(template: str, values: Mapping[str, Json], made: Callable[[str, str], str]) -> str:
    """The text with `made(path, words)` in place of each placeholder."""
    return PLACEHOLDER.sub(
        lambda match: made(match[1], words_of(value_at(values, path_in_full(match[1])))), template
    )


def fill_body(template: str, values: Mapping[str, Json]) -> tuple[bytes, str]:
    """The body of a webhook, and its type.

    In JSON a placeholder between quotes becomes words of that text, escaped; one that stands free becomes the
    value itself. Any other template is plain text.
    """

    def value(path: str) -> Json:
        found: Json = value_at(values, path_in_full(path))  # type: ignore[assignment]  # of values, which are JSON
        return found

    if is_json(template):
        return _filled_json(template, value).encode("utf-8", "replace"), JSON_TYPE
    text = fill_text(template, values, lambda _, words: words)
    return text.encode("utf-8", "replace"), TEXT_TYPE


def is_json(template: str) -> bool:
    """Return whether the template is JSON, whatever its placeholders become."""
    for sample in ("x", None):
        text = _filled_json(template, lambda _, sample=sample: sample)  # type: ignore[misc]  # bound at once
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            return False
    return True


def find_body_fault(template: str) -> str:
    """Return a sentence on what is wrong with the template of a body; empty where nothing is."""
    fault = fault_of(template, ROOTS)
    begin = template.lstrip()
    # What begins like this is meant to be JSON; a receiver would refuse it as text.
    if not fault and begin[:1] in ("{", "[") and begin[:2] != "{{" and not is_json(template):
        return 'it is no JSON once its placeholders are filled; write {{result}} for a value, "{{result}}" for a text'
    return fault


def _filled_json(template: str, value: Callable[[str], Json]) -> str:
    parts: list[str] = []
    is_inside, at = False, 0
    for match in PLACEHOLDER.finditer(template):
        text = template[at : match.start()]
        # Whether the end of this part of JSON stands between quotes, as its beginning does or does not.
        is_escaped = False
        for sign in text:
            if is_escaped:
                is_escaped = False
            elif sign == "\\" and is_inside:
                is_escaped = True
            elif sign == '"':
                is_inside = not is_inside
        found = value(match[1])
        written = orjson.dumps(words_of(found) if is_inside else found).decode()
        parts += text, written[1:-1] if is_inside else written
        at = match.end()
    return "".join((*parts, template[at:]))


def _in_full(template: JsonValue) -> JsonValue:
    if isinstance(template, str):
        return PLACEHOLDER.sub(lambda match: f"{{{{{path_in_full(match[1])}}}}}", template)
    if isinstance(template, dict):
        return {name: _in_full(value) for name, value in template.items()}
    if isinstance(template, list):
        return [_in_full(value) for value in template]
    return template
