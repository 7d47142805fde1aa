"""Texts of reactions with placeholders such as `{{result.slug}}`, filled with the result of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import orjson
from pydantic import JsonValue

from proofroom.core.conditions import value_at
from proofroom.core.json import Json
from proofroom.webhooks.placeholders import PLACEHOLDER, filled, placeholder_problem, words_of

ROOTS: Final = frozenset({"agent", "run", "result", "data"})
"""Allowed first parts of placeholders and conditions."""
SHORT: Final[Mapping[str, str]] = {"agent": "agent.name", "run": "run.id"}
"""Short placeholders and the paths they abbreviate."""
JSON_TYPE: Final = "application/json"
TEXT_TYPE: Final = "text/plain; charset=utf-8"


def check_template(template: JsonValue) -> None:
    """Raise `ValueError` if a placeholder names nothing that a run has."""
    fault = placeholder_problem(template, ROOTS)
    if fault:
        raise ValueError(fault)


def path_in_full(path: str) -> str:
    """Return the full path of a placeholder: `agent` is short for its name, `run` for its id."""
    return SHORT.get(path, path)


def fill_params(params: Mapping[str, JsonValue], values: Mapping[str, Json]) -> dict[str, Json]:
    """Fill the parameters of a tool. A text that is only a placeholder becomes the typed value,
    otherwise text is inserted.
    """
    return {name: filled(_in_full(value), values) for name, value in params.items()}


def fill_text(template: str, values: Mapping[str, Json], made: Callable[[str, str], str]) -> str:
    """Return the text with `made(path, words)` in place of each placeholder."""
    return PLACEHOLDER.sub(
        lambda match: made(match[1], words_of(value_at(values, path_in_full(match[1])))), template
    )


def fill_body(template: str, values: Mapping[str, Json]) -> tuple[bytes, str]:
    """Return the body of a webhook and its content type.

    In a JSON template, a placeholder inside quotes is inserted as escaped text; outside quotes it
    becomes the JSON value. Any other template is plain text.
    """

    def value(path: str) -> Json:
        found: Json = value_at(values, path_in_full(path))  # type: ignore[assignment]  # of values, which are JSON
        return found

    if is_json(template):
        return _filled_json(template, value).encode("utf-8", "replace"), JSON_TYPE
    text = fill_text(template, values, lambda _, words: words)
    return text.encode("utf-8", "replace"), TEXT_TYPE


def is_json(template: str) -> bool:
    """Return True if the template is JSON for any values of its placeholders."""
    # A text and a bare value: a placeholder must be valid JSON in either position.
    for sample in ("x", None):
        text = _filled_json(template, lambda _, sample=sample: sample)  # type: ignore[misc]  # bound at once
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            return False
    return True


def find_body_fault(template: str) -> str:
    """Return a sentence about an error in the template of a body; empty without one."""
    fault = placeholder_problem(template, ROOTS)
    begin = template.lstrip()
    # A template that starts like JSON is meant as JSON; the receiver would reject it as plain text.
    if not fault and begin[:1] in ("{", "[") and begin[:2] != "{{" and not is_json(template):
        return 'it is no JSON once its placeholders are filled; write {{result}} for a value, "{{result}}" for a text'
    return fault


def _filled_json(template: str, value: Callable[[str], Json]) -> str:
    parts: list[str] = []
    is_inside, at = False, 0
    for match in PLACEHOLDER.finditer(template):
        text = template[at : match.start()]
        # `is_inside`: whether the end of this part is within a JSON string. It carries over to the
        # next part.
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
