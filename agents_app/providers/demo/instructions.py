"""The few wishes in words that rules can fulfil: shorten, upper and lower case, replace one text with another."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from agents_app.providers.demo.texts import SENTENCE, clean, is_document, shorten, with_texts
from proofroom.core.json import Json

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
    """The wish in what an editor wrote, if the rules know it."""
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
    """The text at about two thirds of its length."""
    text = clean(text)
    return shorten(text, max(len(text) * 2 // 3, 10))


def fulfilled(wish: Wish, value: Json) -> Json:
    """The text or rich text as the wish wants it; anything else as it is."""
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
