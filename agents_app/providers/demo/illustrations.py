"""A picture: one of the library that fits the words, else one that the media provider makes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from agents_app.providers.demo.text_answers import called
from agents_app.providers.demo.texts import LABEL, NOTE, Values, clean, section, shorten
from agents_app.providers.interface import Toolbox
from proofroom.core.json import JsonObject

_WORD: Final = re.compile(r"\w{4,}")
_SEARCHES: Final = 3
_ALT_MAX: Final = 125


def proposed(post: Values, context: Values, tools: Toolbox) -> JsonObject:
    """A featured picture for the post."""
    chosen, said = _picture(_subject(context, post), frozenset(), tools)
    patch: JsonObject = {"featuredMediaId": chosen} if chosen else {}
    return {"post": patch, "summary": said}


def proposed_for_field(payload: Values, tools: Toolbox) -> JsonObject:
    """A picture for the field, other than the present one and those that were not good enough."""
    context, current = section(payload, "context"), section(payload, "field").get("currentValue")
    earlier = context.get("previousCandidates")
    passed = {current} if isinstance(current, str) else set()
    for row in earlier if isinstance(earlier, Sequence) else ():
        value = row.get("value") if isinstance(row, Mapping) else None
        if isinstance(value, str):
            passed.add(value)
    subject = _subject(context, section(payload, "draftBase"))
    chosen, said = _picture(subject, frozenset(passed), tools)
    return {"value": chosen or current, "summary": said}


def _subject(context: Values, post: Values) -> str:
    return (
        clean(context.get("note"))
        or clean(context.get("openEndedContext"))
        or clean(post.get("title"))
    )


def _picture(subject: str, passed: frozenset[str], tools: Toolbox) -> tuple[str, str]:
    """The id of a picture and what to say of it; "" where there is none."""
    # What to look for: the subject, then its longest words one by one.
    words = sorted(dict.fromkeys(_WORD.findall(subject)), key=len, reverse=True)
    searches = [subject[:200]] if subject else []
    for query in searches + words[: _SEARCHES - 1]:
        items = called(tools, "search_media", {"q": query}).get("items")
        for item in items if isinstance(items, Sequence) and not isinstance(items, str) else ():
            if not isinstance(item, Mapping) or not str(item.get("mime", "")).startswith("image/"):
                continue
            id_ = item.get("id")
            if isinstance(id_, str) and id_ not in passed:
                name = clean(item.get("altText")) or clean(item.get("filename"))
                return id_, f"Found in the library: {shorten(name, 200)}. {NOTE}"
    alt_text = shorten(subject, _ALT_MAX) or "A picture"
    made = called(tools, "generate_image", {"prompt": subject or "A picture", "altText": alt_text})
    id_ = made.get("mediaId")
    if isinstance(id_, str):
        return id_, f"Made a placeholder picture, for nothing in the library fits. {NOTE}"
    return "", f"{LABEL} found no picture and could make none."
