"""The texts of a post document: its fields, then module by module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from content.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.find_replace.props import edit_json, edit_props
from content.post_fields import POST_FIELDS
from proofroom.core.find_replace.sources import Edit, Hand
from proofroom.core.json import Json
from proofroom.definitions import ModuleProps, modules, post_types

POSTS: Final = "posts"
MODULES: Final = "modules"
_TEXTS: Final = tuple(name for name, field in POST_FIELDS.items() if field.is_text)


def edit_document(
    document: PostDocument, post_id: object, edit: Edit, tables: frozenset[str]
) -> tuple[PostDocument, list[Hand]]:
    """The document with its texts as the edit wants them, and the hands that changed something."""
    hands: list[Hand] = []
    if POSTS in tables:
        hand = Hand(edit, POSTS, post_id)
        fields = dict(document.fields)
        for name in _TEXTS:
            value = fields.get(name)
            if isinstance(value, str):
                fields[name] = hand.take(name, value)
        fields["jsonldOverrides"] = edit_json(
            fields.get("jsonldOverrides"), hand, "jsonldOverrides"
        )
        definition = post_types.get(document.type)
        if definition is not None:
            custom = edit_props(
                definition.CustomFields, document.custom_fields, hand, CUSTOM_PREFIX.rstrip(".")
            )
            fields |= {CUSTOM_PREFIX + name: value for name, value in custom.items()}
        edited = replace(document, fields=fields)
        if hand.places:
            document, hands = edited, [hand]
    if MODULES not in tables:
        return document, hands
    found: list[ModuleDocument] = []
    for module in document.modules:
        hand = Hand(edit, MODULES, module.id)
        edited_module = _edit_module(module, hand)
        if hand.places:
            module = edited_module
            hands.append(hand)
        found.append(module)
    return replace(document, modules=tuple(found)), hands


def _edit_module(module: ModuleDocument, hand: Hand) -> ModuleDocument:
    definition = modules.get(module.type)
    if definition is None:  # what no definition knows cannot be judged, and stays
        return module
    props = module.props
    if module.scope == "local":
        props = edit_props(definition.Props, props, hand, "props")
    overrides = edit_props(definition.Props, module.overrides, hand, "overrides")
    return replace(module, props=props, overrides=overrides)


class _Reading(Edit):
    """Changes nothing and keeps what it is shown."""

    def __init__(self) -> None:
        super().__init__(reason="")
        self.shown: dict[tuple[str, str], dict[str, Json]] = {}

    def value(self, table: str, row: str, path: str, value: Json) -> Json:
        self.shown.setdefault((table, row), {})[path] = value
        return value


def settle_hands(
    hands: list[Hand], document: PostDocument, post_id: object, tables: frozenset[str]
) -> None:
    """Tell the hands what the rules made of the values."""
    reading = _Reading()
    edit_document(document, post_id, reading, tables)
    for hand in hands:
        hand.settle(reading.shown.get((hand.table, hand.row), {}))


def props_of_places(
    props: type[ModuleProps], values: Mapping[str, Json], path: str
) -> dict[str, Json]:
    """Every value of props that can be replaced, by its path."""
    reading = _Reading()
    edit_props(props, values, Hand(reading, "", ""), path)
    return reading.shown.get(("", ""), {})
