"""The texts of a post document: its fields, then each module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from proofroom.core.find_replace import Edit, Hand
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import ModuleProps, Prop, modules, post_types, props_of

_TEXTS: Final = frozenset({"text", "textarea", "link", "url"})
# Bounds the recursion on stored JSON. Deeper values are unchanged.
_DEEPEST: Final = 40


def edit_props(
    props: type[ModuleProps],
    values: Mapping[str, Json],
    hand: Hand,
    path: str,
) -> JsonObject:
    """Return the values with their texts edited. Values without a definition are unchanged."""
    known = props_of(props)
    return {
        name: _edit_prop(known[name], value, hand, f"{path}.{name}") if name in known else value
        for name, value in values.items()
    }


def _edit_prop(prop: Prop, value: Json, hand: Hand, path: str) -> Json:
    if prop.kind in _TEXTS and isinstance(value, str):
        return hand.take(path, value)
    if prop.kind == "richtext" and isinstance(value, Mapping):
        return edit_rich_text(value, hand, path)
    if prop.nested is None:
        return value
    if isinstance(value, Mapping):
        return edit_props(prop.nested, value, hand, path)
    if isinstance(value, list):
        nested = prop.nested
        return [
            edit_props(nested, item, hand, f"{path}.{place}") if isinstance(item, Mapping) else item
            for place, item in enumerate(value)
        ]
    return value


def edit_rich_text(document: Mapping[str, Json], hand: Hand, path: str) -> Json:
    """Return a rich-text document with its text nodes, link addresses and image descriptions edited.

    A word that is split over marks is in several nodes and is not found. Empty text nodes are removed.
    """
    whole = hand.take(path, document)
    if whole is not document:
        return whole
    since = len(hand.places)
    edited = _edit_node(document, hand, path, 0)
    if len(hand.places) == since:
        return document
    if _count(edited) != _count(document):
        # Removing a node shifted the paths of those after it, so an undo needs the whole document.
        hand.fold(since, path, document, edited)
    return edited


def _edit_node(node: Mapping[str, Json], hand: Hand, path: str, depth: int) -> JsonObject:
    edited = dict(node)
    if depth > _DEEPEST:
        return edited
    if node.get("type") == "text" and isinstance(node.get("text"), str):
        edited["text"] = hand.take(f"{path}.text", node["text"])
    if node.get("type") == "image":
        _edit_attributes(edited, ("alt", "title", "caption"), hand, path)
    marks = node.get("marks")
    if isinstance(marks, list):
        edited_marks: list[Json] = []
        for place, mark in enumerate(marks):
            if isinstance(mark, Mapping) and mark.get("type") == "link":
                mark = dict(mark)
                _edit_attributes(mark, ("href", "title"), hand, f"{path}.marks.{place}")
            edited_marks.append(mark)
        edited["marks"] = edited_marks
    children = node.get("content")
    if isinstance(children, list):
        found: list[Json] = []
        for place, child in enumerate(children):
            if isinstance(child, Mapping):
                child = _edit_node(child, hand, f"{path}.content.{place}", depth + 1)
                # ProseMirror's schema refuses empty text nodes.
                if child.get("type") == "text" and child.get("text") == "":
                    continue
            found.append(child)
        edited["content"] = found
    return edited


def _edit_attributes(node: JsonObject, names: tuple[str, ...], hand: Hand, path: str) -> None:
    attributes = node.get("attrs")
    if not isinstance(attributes, Mapping):
        return
    edited = dict(attributes)
    for name in names:
        value = edited.get(name)
        if isinstance(value, str):
            edited[name] = hand.take(f"{path}.attrs.{name}", value)
    node["attrs"] = edited


def _count(node: Json) -> int:
    if not isinstance(node, Mapping):
        return 1
    children = node.get("content")
    return 1 + sum(_count(child) for child in children) if isinstance(children, list) else 1


def edit_json(value: Json, hand: Hand, path: str, depth: int = 0) -> Json:
    """Return JSON with its texts edited, except keys and the values of JSON-LD keywords."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, str):
        return hand.take(path, value)
    if isinstance(value, Mapping):
        return {
            key: item if key.startswith("@") else edit_json(item, hand, f"{path}.{key}", depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            edit_json(item, hand, f"{path}.{place}", depth + 1) for place, item in enumerate(value)
        ]
    return value


POSTS: Final = "posts"
MODULES: Final = "modules"
_TEXT_FIELDS: Final = tuple(name for name, field in POST_FIELDS.items() if field.is_text)


def edit_document(
    document: PostDocument,
    post_id: object,
    edit: Edit,
    tables: frozenset[str],
) -> tuple[PostDocument, list[Hand]]:
    """Return the document with its texts edited, and the hands that changed a text."""
    hands: list[Hand] = []
    if POSTS in tables:
        hand = Hand(edit, POSTS, post_id)
        fields = dict(document.fields)
        for name in _TEXT_FIELDS:
            value = fields.get(name)
            if isinstance(value, str):
                fields[name] = hand.take(name, value)
        fields["jsonldOverrides"] = edit_json(
            fields.get("jsonldOverrides"), hand, "jsonldOverrides"
        )
        post_type = post_types.get(document.type)
        if post_type is not None:
            custom = edit_props(
                post_type.CustomFields, document.custom_fields, hand, CUSTOM_PREFIX.rstrip(".")
            )
            fields |= {CUSTOM_PREFIX + name: value for name, value in custom.items()}
        edited = replace(document, fields=fields)
        if hand.places:
            document, hands = edited, [hand]
    if MODULES not in tables:
        return document, hands
    found: list[ModuleDocument] = []
    for module in document.modules:
        definition = modules.get(module.type)
        # Without a definition the kinds of the props are unknown, so they aren't changed.
        if definition is not None:
            hand = Hand(edit, MODULES, module.id)
            props = module.props
            # The props of a global module belong to all posts; `GlobalModuleSource` edits them.
            if module.scope == "local":
                props = edit_props(definition.Props, props, hand, "props")
            overrides = edit_props(definition.Props, module.overrides, hand, "overrides")
            if hand.places:
                module = replace(module, props=props, overrides=overrides)
                hands.append(hand)
        found.append(module)
    return replace(document, modules=tuple(found)), hands


class _TextReading(Edit):
    """An edit that changes nothing and records all values."""

    def __init__(self) -> None:
        super().__init__(reason="")
        self.shown: dict[tuple[str, str], dict[str, Json]] = {}

    def value(self, table: str, row: str, path: str, value: Json) -> Json:
        self.shown.setdefault((table, row), {})[path] = value
        return value


def update_hands_after_validation(
    hands: list[Hand], document: PostDocument, post_id: object, tables: frozenset[str]
) -> None:
    """Update the hands with the values after validation."""
    reading = _TextReading()
    edit_document(document, post_id, reading, tables)
    for hand in hands:
        hand.settle(reading.shown.get((hand.table, hand.row), {}))


def replaceable_props(
    props: type[ModuleProps], values: Mapping[str, Json], path: str
) -> dict[str, Json]:
    """Return all replaceable values of props by path."""
    reading = _TextReading()
    edit_props(props, values, Hand(reading, "", ""), path)
    return reading.shown.get(("", ""), {})
