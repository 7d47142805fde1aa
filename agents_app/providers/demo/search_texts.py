"""Rules for the texts that search engines read of a post."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agents_app.providers.demo.texts import (
    NOTE,
    SENTENCE,
    Values,
    clean,
    edit_of,
    section,
    shorten,
    values_of,
    words_of,
)
from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.nodes import children, kind
from proofroom.definitions.richtext.text import to_text

_LENGTHS: Final = {"metaTitle": (10, 60), "metaDescription": (50, 160), "excerpt": (40, 300)}
"""The characters that a good text has, least and most."""
_LEAST_LINE: Final = 10
_ABOUT: Final = {"en": "Questions about {}", "de": "Fragen zu: {}"}


def proposed(post: Values, modules: Sequence[Values]) -> JsonObject:
    """What search engines read, where it is missing or too long or short; the opening and the questions, sharper."""
    title, excerpt = clean(post.get("title")), clean(post.get("excerpt"))
    body = clean(" ".join(words_of(module) for module in modules)) or excerpt or title
    # The present text where that is good: never the body's first lines over a good text.
    others = {
        "metaTitle": _search_title(title, modules),
        "metaDescription": excerpt if _fits("metaDescription", excerpt) else shorten(body, 155),
        "excerpt": shorten(" ".join(SENTENCE.split(body)[:2]), 240),
    }
    patch: JsonObject = {}
    for name, other in others.items():
        value = _better(name, post, other)
        if value and value != clean(post.get(name)):
            patch[name] = value
    edits: list[Json] = []
    names = [*patch]
    for module in modules:
        values = _module_values(module, post, modules)
        if values:
            edits.append(edit_of(module, values))
            names.append(f"the {module['type']}")
    what = f"Changed {', '.join(names)}." if names else "Found nothing to change."
    return {"post": patch, "modules": edits, "summary": f"{what} {NOTE}"}


def _better(name: str, post: Values, other: str) -> str:
    """The other text where there is none, or where it alone has a good length; a long one is cut at last."""
    value = clean(post.get(name))
    if name == "metaTitle" and value.casefold() == clean(post.get("title")).casefold():
        value = ""  # repeating the title tells a search engine nothing
    if _fits(name, value):
        return value
    if not value or _fits(name, other):
        return other
    return shorten(value, _LENGTHS[name][1])


def _fits(name: str, value: str) -> bool:
    least, most = _LENGTHS[name]
    return least <= len(value) <= most


def _search_title(title: str, modules: Sequence[Values]) -> str:
    """The title with the first topic of the text that there is room for."""
    most = _LENGTHS["metaTitle"][1]
    texts = [value for module in modules for value in section(module, "props").values()]
    nodes = [node for value in texts if isinstance(value, Mapping) for node in children(value)]
    for node in nodes:
        topic = clean(to_text(node)) if kind(node) == "heading" else ""
        longer = f"{title}: {topic}"
        if topic and len(longer) <= most and topic.casefold() not in title.casefold():
            return longer
    return shorten(title, most)


def _module_values(module: Values, post: Values, modules: Sequence[Values]) -> JsonObject:
    """A subtitle of one line for the opening, a heading that says what the questions are about."""
    props = values_of(module)
    title = clean(post.get("title"))
    if module.get("type") == "hero":
        subtitle = clean(props.get("subtitle"))
        text = subtitle or clean(" ".join(map(words_of, modules))) or clean(post.get("excerpt"))
        first = shorten(SENTENCE.split(text or title)[0], 160)
        return {"subtitle": first} if first != subtitle and len(first) >= _LEAST_LINE else {}
    if module.get("type") == "faq":
        heading = clean(props.get("heading"))
        if not heading:
            return {
                "heading": shorten(_ABOUT.get(str(post.get("locale")), "{}").format(title), 160)
            }
        named = f"{heading}: {title}"
        if title.casefold() not in heading.casefold() and len(named) <= 160:
            return {"heading": named}
    return {}
