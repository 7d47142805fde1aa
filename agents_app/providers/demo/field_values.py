"""A new value of one field, by its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agents_app.providers.demo import illustrations
from agents_app.providers.demo.instructions import UNDERSTOOD, fulfilled, shorter, wish_of
from agents_app.providers.demo.texts import (
    LABEL,
    NOTE,
    SENTENCE,
    Values,
    clean,
    is_document,
    section,
    shorten,
    tidy,
    tidy_inside,
    with_texts,
)
from agents_app.providers.interface import Toolbox
from content.post_fields import POST_FIELDS
from proofroom.core.json import Json, JsonObject

_TEXTS: Final = frozenset({"text", "textarea", ""})


def proposed(payload: Values, tools: Toolbox) -> JsonObject:
    """The value of the field that is asked about, other than the candidates before it where there is another."""
    field, context = section(payload, "field"), section(payload, "context")
    current, type_ = field.get("currentValue"), _type_of(payload)
    words = context.get("openEndedContext")
    if type_ == "media":
        return illustrations.proposed_for_field(payload, tools)
    # The candidates that were not good enough, what was said of the last, and what people rejected here before.
    found = context.get("previousCandidates")
    rows = found if isinstance(found, Sequence) and not isinstance(found, str) else ()
    candidates = [row for row in rows if isinstance(row, Mapping)]
    note = context.get("note") or (candidates[-1].get("note") if candidates else None)
    earlier = [row.get("value") for row in candidates]
    rejected = context.get("rejectedBefore")
    for row in rejected if isinstance(rejected, list) else ():
        if isinstance(row, Mapping) and "value" in row:
            earlier.append(row["value"])
    wish = wish_of(note) or wish_of(words)
    if is_document(current) or type_ in _TEXTS:
        for value in _candidates(payload, current):
            wanted = fulfilled(wish, value) if wish else value
            if wanted not in earlier:
                is_misunderstood = wish is None and (words or note)
                summary = f"{UNDERSTOOD} {NOTE}" if is_misunderstood else NOTE
                return {"value": wanted, "summary": summary}
        return {"value": current, "summary": f"{LABEL} has no other candidate. {NOTE}"}
    return {
        "value": current,
        "summary": f"{LABEL} has no rule for a field of type {type_} and left it as it is.",
    }


def _candidates(payload: Values, current: Json) -> list[Json]:
    """Return the possible values, best first."""
    if is_document(current) and isinstance(current, Mapping):
        tidied = with_texts(current, tidy_inside)
        blocks = current.get("content")
        if isinstance(blocks, Sequence) and not isinstance(blocks, str) and len(blocks) > 1:
            return [tidied, {**current, "content": list(blocks[: len(blocks) * 2 // 3 or 1])}]
        return [tidied]
    base = section(payload, "draftBase")
    title, excerpt = clean(base.get("title")), clean(base.get("excerpt"))
    key = str(section(payload, "field").get("key"))
    if key == "post.metaTitle":
        first = shorten(title, 60)
    elif key in ("post.metaDescription", "post.excerpt"):
        first = shorten(excerpt or clean(current) or title, 155)
    else:
        first = tidy(current) if isinstance(current, str) and current.strip() else title
    longer = f"{title}: {SENTENCE.split(excerpt)[0]}" if title and excerpt else title
    others = [shorter(first), SENTENCE.split(first)[0], longer, title, shorter(shorter(first))]
    return [first, *(text for text in others if text)]


def _type_of(payload: Values) -> str:
    """The type of the field that is asked about; "" where nobody says."""
    key = str(section(payload, "field").get("key"))
    kind, _, rest = key.partition(".")
    if kind == "post":
        declared = POST_FIELDS.get(rest)
        if declared is None:
            return ""
        return "slug" if declared.format == "slug" else declared.field_type
    here = section(section(payload, "module"), "schema")
    for part in rest.split(".")[1:]:
        items = section(here, "items") or here
        here = items if part.isdigit() else section(section(items, "properties"), part)
    type_ = here.get("field")
    return type_ if isinstance(type_, str) else ""
