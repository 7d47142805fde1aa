"""The texts in props: text, rich text and links, nested ones too. Keys, ids, choices and files are no texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from proofroom.core.find_replace.sources import Hand
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import ModuleProps, Prop, props_of

_TEXTS: Final = frozenset({"text", "textarea", "link", "url"})
_DEEPEST: Final = 40


def edit_props(
    props: type[ModuleProps], values: Mapping[str, Json], hand: Hand, path: str
) -> JsonObject:
    """The values with their texts as the hand wants them; what no definition knows stays."""
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
    """A rich-text document with its text nodes, link addresses and descriptions of images as the hand wants them.

    A word that is split over marks stands in several nodes, and is not found. A node without text goes.
    """
    whole = hand.take(path, document)
    if whole is not document:
        return whole
    since = len(hand.places)
    edited = _edit_node(document, hand, path, 0)
    if len(hand.places) == since:
        return document
    if _count(edited) != _count(document):
        # Other nodes have moved up: only the document as a whole can be put back.
        hand.fold(since, path, document, edited)
    return edited


def _edit_node(node: Mapping[str, Json], hand: Hand, path: str, depth: int) -> JsonObject:
    edited = dict(node)
    if depth > _DEEPEST:
        return edited
    if node.get("type") == "text" and isinstance(node.get("text"), str):
        edited["text"] = hand.take(f"{path}.text", node["text"])
    if node.get("type") == "image":
        _edit_attributes(edited, ("alt", "title"), hand, path)
    marks = node.get("marks")
    if isinstance(marks, list):
        edited["marks"] = [
            _edit_mark(mark, hand, f"{path}.marks.{place}") for place, mark in enumerate(marks)
        ]
    children = node.get("content")
    if isinstance(children, list):
        found = [
            _edit_node(child, hand, f"{path}.content.{place}", depth + 1)
            if isinstance(child, Mapping)
            else child
            for place, child in enumerate(children)
        ]
        edited["content"] = [child for child in found if not _is_empty_text(child)]
    return edited


def _edit_mark(mark: Json, hand: Hand, path: str) -> Json:
    if not isinstance(mark, Mapping) or mark.get("type") != "link":
        return mark
    edited = dict(mark)
    _edit_attributes(edited, ("href", "title"), hand, path)
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


def _is_empty_text(node: Json) -> bool:
    return isinstance(node, Mapping) and node.get("type") == "text" and node.get("text") == ""


def _count(node: Json) -> int:
    if not isinstance(node, Mapping):
        return 1
    children = node.get("content")
    return 1 + sum(_count(child) for child in children) if isinstance(children, list) else 1


def edit_json(value: Json, hand: Hand, path: str, depth: int = 0) -> Json:
    """Free JSON with its texts as the hand wants them; keys stay, and so does what JSON-LD keywords say."""
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
