"""Marks texts of a translation that are still in the source's language. It shows the process without
translating.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents_app.providers.demo.texts import (
    LABEL,
    NOTE,
    Values,
    clean,
    edit_of,
    is_document,
    modules_of,
    schema_of,
    section,
    values_of,
)
from content.document.post_fields import POST_FIELDS
from proofroom.core.json import Json, JsonObject

_FIELDS: Final = {
    name: field.max_length or 0
    for name, field in POST_FIELDS.items()
    if field.is_text and field.translatable
}
"""Maximum characters of each text field of a post."""
_TEXT_MAX: Final = 200
_GLOSSARY: Final[Mapping[str, Mapping[str, str]]] = {
    "de": {
        "contact us": "Kontakt aufnehmen",
        "frequently asked questions": "Häufige Fragen",
        "learn more": "Mehr erfahren",
        "read more": "Weiterlesen",
        "what you need": "Was Sie brauchen",
    },
}
"""The few texts that the demo can translate."""


def propose_translation(post: Values, modules: Sequence[Values], context: Values) -> JsonObject:
    """Mark texts equal to the source's with the target language. Texts that differ are left unchanged."""
    source = section(context, "translationOf")
    if not source:
        return {
            "summary": f"{LABEL}: this post is no translation, so there is nothing to translate. {NOTE}"
        }
    # All texts of the source, each on one line.
    original = section(source, "post")
    known = {clean(original.get(name)) for name in _FIELDS}
    for module in modules_of(source):
        known.update(_texts_in(section(module, "props")))
        known.update(_texts_in(section(module, "overrides")))
    marking = _Marking(str(post.get("locale")), frozenset(known))
    if wanted := section(context, "sourceValues"):
        post, modules = _only(wanted, post, modules)
        known.update(_texts_in(wanted))
        marking = _Marking(marking.locale, frozenset(known))
    patch: JsonObject = {}
    for name, most in _FIELDS.items():
        value = post.get(name)
        marked = marking.text(value, most) if isinstance(value, str) else value
        if marked != value:
            patch[name] = marked
    edits: list[Json] = []
    for module in modules:
        values = values_of(module)
        changed = marking.changed(schema_of(module), values)
        if changed:
            edits.append(edit_of(module, changed))
    found = len(patch) + len(edits)
    what = (
        f"Marked the texts of {found} places with [{marking.locale}]."
        if found
        else "All is translated."
    )
    return {"post": patch, "modules": edits, "summary": f"{what} {NOTE}"}


def _only(
    wanted: Values, post: Values, modules: Sequence[Values]
) -> tuple[Values, Sequence[Values]]:
    """Return the fields that a run is limited to, with the source's values."""
    fields: JsonObject = {"locale": post.get("locale")}
    props: dict[str, JsonObject] = {}
    for path, value in wanted.items():
        kind, *rest = path.split(".", 3)
        if kind == "post":
            fields[".".join(rest)] = value
        else:
            props.setdefault(rest[0], {})[rest[2]] = value
    found = [
        {**module, "props": props[id_], "overrides": {}}
        for module in modules
        if (id_ := str(module.get("postModuleId"))) in props
    ]
    return fields, found


def _texts_in(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield clean(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts_in(item)


@dataclass(frozen=True, slots=True)
class _Marking:
    """Marks texts that are in `known`, the texts of the source."""

    locale: str
    known: frozenset[str]

    def text(self, value: str, most: int) -> str:
        text = clean(value)
        mark = f"[{self.locale}] "
        if text not in self.known or not any(char.isalpha() for char in text):
            return value
        if text.startswith(mark):
            return value
        translated = _GLOSSARY.get(self.locale, {}).get(text.casefold())
        if translated is not None:
            return translated
        return f"{mark}{value}" if len(mark) + len(value) <= most else value

    def changed(self, schema: Values, values: Values) -> JsonObject:
        """Return the translatable values that change, by name."""
        found: JsonObject = {}
        for name, value in values.items():
            field = section(schema, name)
            marked = self.value(field, value) if field.get("translatable") is True else value
            if marked != value:
                found[name] = marked
        return found

    def value(self, field: Values, value: Json) -> Json:
        """Return one value marked according to its field type; objects and lists recursively."""
        kind, most = field.get("field"), field.get("maxLength")
        if isinstance(value, str) and kind in ("text", "textarea"):
            return self.text(value, most if isinstance(most, int) else _TEXT_MAX)
        if kind == "richtext" and is_document(value):
            return self.blocks(value)
        if kind == "object" and isinstance(value, Mapping):
            return {**value, **self.changed(section(field, "properties"), value)}
        if kind == "repeater" and isinstance(value, Sequence) and not isinstance(value, str):
            inner = section(section(field, "items"), "properties")
            return [
                {**item, **self.changed(inner, item)} if isinstance(item, Mapping) else item
                for item in value
            ]
        return value

    def blocks(self, node: Json) -> Json:
        """Return rich text with the first text of each block marked; links, marks and structure stay."""
        if isinstance(node, Sequence) and not isinstance(node, str):
            return [self.blocks(item) for item in node]
        if not isinstance(node, Mapping) or node.get("type") == "codeBlock":
            return node
        content = node.get("content")
        if isinstance(content, str) or not isinstance(content, Sequence):
            return node
        marked: list[Json] = []
        is_marked = False
        for child in content:
            text = child.get("text") if isinstance(child, Mapping) else None
            if isinstance(child, Mapping) and isinstance(text, str) and not is_marked:
                # Rich text has no maximum length, so the mark always fits.
                changed = self.text(text, len(text) + 20)
                is_marked = changed != text
                marked.append({**child, "text": changed})
            else:
                marked.append(self.blocks(child))
        return {**node, "content": marked}
