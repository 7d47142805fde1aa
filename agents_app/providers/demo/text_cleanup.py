"""Rules that tidy blanks, and that carry out the few instructions which need no model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from agents_app.providers.demo.instructions import UNDERSTOOD, Wish, fulfilled, wish_of
from agents_app.providers.demo.texts import (
    NOTE,
    Values,
    edit_of,
    is_document,
    schema_of,
    section,
    tidy,
    tidy_inside,
    values_of,
    with_texts,
)
from content.post_fields import POST_FIELDS
from proofroom.core.json import Json, JsonObject

_FIELDS: Final = tuple(
    name for name, field in POST_FIELDS.items() if field.is_text and field.translatable
)
_NAMES: Final = {
    "metaTitle": re.compile(r"\b(meta|search) title\b", re.I),
    "metaDescription": re.compile(r"\bdescription\b", re.I),
    "excerpt": re.compile(r"\b(excerpt|introduction|intro|teaser|lead)\b", re.I),
    "title": re.compile(r"(?<!meta )(?<!search )\b(title|headline)\b", re.I),
}
"""How people call the fields of a post."""
_READABLE: Final = frozenset({"text", "textarea", "richtext"})


def proposed(post: Values, modules: Sequence[Values], context: Values) -> JsonObject:
    """Carry out the editor's instruction where the rules know it; else remove superfluous blanks."""
    words = context.get("openEndedContext")
    wish = wish_of(words)
    if wish is not None:
        return _wished(post, modules, wish, str(words))
    patch: JsonObject = {}
    for name in _FIELDS:
        value = post.get(name)
        if isinstance(value, str) and tidy(value) != value:
            patch[name] = tidy(value)
    edits = _edits(modules, _tidied)
    found = len(patch) + len(edits)
    what = f"Tidied blanks in {found} places." if found else "Found nothing to tidy."
    hint = f" {UNDERSTOOD}" if words else ""
    return {"post": patch, "modules": edits, "summary": f"{what}{hint} {NOTE}"}


def _wished(post: Values, modules: Sequence[Values], wish: Wish, words: str) -> JsonObject:
    named = [name for name, pattern in _NAMES.items() if pattern.search(words)]
    everywhere = not named and wish.kind != "shorten"
    patch: JsonObject = {}
    for name in named or (_FIELDS if everywhere else ("excerpt",)):
        value = post.get(name)
        changed = fulfilled(wish, value) if isinstance(value, str) else value
        if changed != value:
            patch[name] = changed
    edits = _edits(modules, lambda value: fulfilled(wish, value)) if everywhere else []
    found = len(patch) + len(edits)
    what = f"Did “{wish.kind}” in {found} places." if found else "Nothing was left to change."
    return {"post": patch, "modules": edits, "summary": f"{what} {NOTE}"}


def _edits(modules: Sequence[Values], change: Callable[[Json], Json]) -> list[Json]:
    """An edit of each module with its readable texts changed, where that makes a difference."""
    edits: list[Json] = []
    for module in modules:
        schema, changed = schema_of(module), {}
        for name, value in values_of(module).items():
            if section(schema, name).get("field") in _READABLE and change(value) != value:
                changed[name] = change(value)
        if changed:
            edits.append(edit_of(module, changed))
    return edits


def _tidied(value: Json) -> Json:
    if isinstance(value, str):
        return tidy(value)
    return with_texts(value, tidy_inside) if is_document(value) else value
