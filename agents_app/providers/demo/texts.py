"""Text functions of the demo, access to payloads, and the few instructions the rules understand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

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
    """Return the text on one line, without repeated blanks."""
    return _SPACE.sub(" ", value).strip() if isinstance(value, str) else ""


def tidy(text: str) -> str:
    """Return the text with single blanks, none before punctuation, none at the ends."""
    return tidy_inside(text).strip()


def tidy_inside(text: str) -> str:
    """Return the text with single blanks, none before punctuation. Blanks at the ends stay, for text
    between others.
    """
    text = re.sub(r"[ \t]{2,}", " ", text)
    return re.sub(r"[ \t]+([,.;:!?])(?=\s|$)", r"\1", text)


def shorten(text: str, limit: int) -> str:
    """Return the text, cut at a word to at most `limit` characters including the ellipsis."""
    text = clean(text)
    if len(text) <= limit:
        return text
    cut = text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:–-")
    return f"{cut or text[: limit - 1]}…"


def section(payload: Values, name: str) -> Values:
    """Return the object under a name; empty if there is none."""
    value = payload.get(name)
    return value if isinstance(value, Mapping) else {}


def modules_of(payload: Values) -> Sequence[Values]:
    found = payload.get("modules")
    return cast("Sequence[Values]", found) if isinstance(found, Sequence) else ()


def values_of(module: Values) -> Values:
    """Return the props as the page shows them, with overrides applied."""
    return {**section(module, "props"), **section(module, "overrides")}


def schema_of(module: Values) -> Values:
    """Return the fields of the module by name, from its JSON Schema."""
    definition = definitions.get(str(module.get("type")))
    return section(definition.props_schema(), "properties") if definition else {}


def words_of(module: Values) -> str:
    """Return the module's text if it is part of the body."""
    if module.get("type") in _NOT_THE_BODY:
        return ""
    return text_of(str(module.get("type")), section(module, "props"))


def edit_of(module: Values, values: JsonObject) -> JsonObject:
    """Return the edit that sets the values of a module. A shared module is changed for this post only."""
    part = "overrides" if module.get("scope") == "global" else "props"
    return {"postModuleId": module.get("postModuleId"), part: values}


def is_document(value: Json) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "doc"


def with_texts(node: Json, change: Callable[[str], str]) -> Json:
    """Return a rich-text document with every text changed, except code. Text that would become empty
    stays unchanged.
    """
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


UNDERSTOOD: Final = (
    'The demo understands “shorten”, “uppercase”, “lowercase” and “replace "this" with "that"”; '
    "a model understands the rest."
)
_QUOTED: Final = r"[\"'“”„«»‘’]([^\"'“”„«»‘’]{1,200})[\"'“”„«»‘’]"
_REPLACE: Final = re.compile(
    rf"(?:replace|ersetze)\s+{_QUOTED}\s+(?:with|by|durch)\s+{_QUOTED}", re.I
)
_SHORTEN: Final = re.compile(r"\b(shorten|shorter|too long|brief|kürz\w*|zu lang)\b", re.I)
_UPPER: Final = re.compile(r"\b(upper[ -]?case|capitals|capital letters|großbuchstaben)\b", re.I)
_LOWER: Final = re.compile(r"\b(lower[ -]?case|kleinbuchstaben)\b", re.I)
_SENTENCES: Final = re.compile(r"\b(one|two|three|[1-9])\s+sentences?\b", re.I)
_COUNTS: Final = {"one": 1, "two": 2, "three": 3}
_MOST_WORDS: Final = 4000


@dataclass(frozen=True, slots=True)
class Wish:
    """An instruction for a text."""

    kind: Literal["replace", "shorten", "uppercase", "lowercase"]
    change: Callable[[str], str]


def wish_of(words: Json) -> Wish | None:
    """Return the instruction in an editor's text, or None if the rules do not know it."""
    text = words[:_MOST_WORDS] if isinstance(words, str) else ""
    if replacing := _REPLACE.search(text):
        old, new = replacing.groups()
        return Wish("replace", lambda value: value.replace(old, new))
    if _SHORTEN.search(text):
        counted = _SENTENCES.search(text)
        if counted:
            word = counted.group(1).lower()
            number = _COUNTS.get(word) or int(word)
            return Wish("shorten", lambda value: " ".join(SENTENCE.split(clean(value))[:number]))
        return Wish("shorten", shorter)
    if _UPPER.search(text):
        return Wish("uppercase", str.upper)
    if _LOWER.search(text):
        return Wish("lowercase", str.lower)
    return None


def shorter(text: str) -> str:
    """Return the text shortened to about two thirds."""
    text = clean(text)
    return shorten(text, max(len(text) * 2 // 3, 10))


def apply_wish(wish: Wish, value: Json) -> Json:
    """Return the text or rich text after the instruction; other values unchanged."""
    if isinstance(value, str):
        return wish.change(value) or value
    if not is_document(value) or not isinstance(value, dict):
        return value
    if wish.kind != "shorten":
        return with_texts(value, wish.change)
    blocks = value.get("content")
    if isinstance(blocks, str) or not isinstance(blocks, Sequence) or len(blocks) < 2:
        return with_texts(value, wish.change)
    return {**value, "content": list(blocks[: max(len(blocks) * 2 // 3, 1)])}
