"""Texts as the rules handle them: plain functions of words, and where texts stand in a payload."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, cast

from proofroom.core.json import Json, JsonObject
from proofroom.definitions import modules as definitions
from proofroom.definitions import text_of

LABEL: Final = "Demo (no AI)"
NOTE: Final = "Proposed by the rule-based demo; no AI was involved."
SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+")
Values: TypeAlias = "Mapping[str, Json]"
_SPACE: Final = re.compile(r"\s+")
_NOT_THE_BODY: Final = frozenset({"hero", "faq", "breadcrumb"})


def clean(value: Json) -> str:
    """Text on one line, without doubled blanks."""
    return _SPACE.sub(" ", value).strip() if isinstance(value, str) else ""


def tidy(text: str) -> str:
    """Single blanks, none before punctuation, none at the ends."""
    return tidy_inside(text).strip()


def tidy_inside(text: str) -> str:
    """Single blanks, none before punctuation; the ends as they are, for what stands between other texts."""
    text = re.sub(r"[ \t]{2,}", " ", text)
    return re.sub(r"[ \t]+([,.;:!?])(?=\s|$)", r"\1", text)


def shorten(text: str, limit: int) -> str:
    """The text, cut at a word so that it and its ellipsis have at most `limit` characters."""
    text = clean(text)
    if len(text) <= limit:
        return text
    cut = text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:–-")
    return f"{cut or text[: limit - 1]}…"


def section(payload: Values, name: str) -> Values:
    """The object under a name; an empty one where there is none."""
    value = payload.get(name)
    return value if isinstance(value, Mapping) else {}


def modules_of(payload: Values) -> Sequence[Values]:
    found = payload.get("modules")
    return cast("Sequence[Values]", found) if isinstance(found, Sequence) else ()


def values_of(module: Values) -> Values:
    """The props as the page shows them: overrides on top."""
    return {**section(module, "props"), **section(module, "overrides")}


def schema_of(module: Values) -> Values:
    """The fields of the module by name, as its JSON Schema has them."""
    definition = definitions.get(str(module.get("type")))
    return section(definition.props_schema(), "properties") if definition else {}


def words_of(module: Values) -> str:
    """Return the module's text, where it belongs to the body."""
    if module.get("type") in _NOT_THE_BODY:
        return ""
    return text_of(str(module.get("type")), section(module, "props"))


def edit_of(module: Values, values: JsonObject) -> JsonObject:
    """The edit that puts the values into the module: a shared one is changed for this post only."""
    part = "overrides" if module.get("scope") == "global" else "props"
    return {"postModuleId": module.get("postModuleId"), part: values}


def is_document(value: Json) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "doc"


def with_texts(node: Json, change: Callable[[str], str]) -> Json:
    """A rich-text document with every text changed; code stays. What becomes empty stays as it was."""
    if isinstance(node, Mapping):
        marks = node.get("marks")
        is_code = (
            isinstance(marks, Sequence)
            and not isinstance(marks, str)
            and any(isinstance(mark, Mapping) and mark.get("type") == "code" for mark in marks)
        )
        if is_code or node.get("type") == "codeBlock":
            return node
        text = node.get("text")
        if node.get("type") == "text" and isinstance(text, str):
            return {**node, "text": change(text) or text}
        return {
            name: value if name == "attrs" else with_texts(value, change)
            for name, value in node.items()
        }
    if isinstance(node, Sequence) and not isinstance(node, str):
        return [with_texts(item, change) for item in node]
    return node
