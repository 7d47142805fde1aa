"""The JSON Schema of rich text as the delivery API answers it: a named schema for each node and mark.

`schema.validate` decides on what is stored. Answers have more: ids of headings, posts of links, ids of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proofroom.core.json import JsonObject
from proofroom.definitions.richtext.nodes import INLINE, MARK_ORDER
from proofroom.definitions.richtext.schema import (
    ADDED_BY_DELIVERY,
    ATTRIBUTES,
    BLOCKS,
    CELLS,
    CHILDREN,
    NODES,
    REQUIRED,
    TEXT_OR_NULL,
)

DOCUMENT: Final = "RichTextDocument"
_REF: Final = "#/components/schemas/"
_CHOICES: Final[dict[tuple[str, ...], tuple[str, str]]] = {
    BLOCKS: ("RichTextBlock", "A block."),
    INLINE: ("RichTextInline", "Text, an image or a line break."),
    CELLS: ("RichTextTableCellOrHeader", "A cell of a table."),
    MARK_ORDER: ("RichTextMark", "The format of a text, or a link."),
}
"""Names and descriptions of the schemas of one of several nodes or marks."""
_ADDED: Final[dict[str, JsonObject]] = {
    "heading": {
        "type": "string",
        "description": "Unique on the page. The pages of the site have the same ids.",
    },
    "image": {
        **TEXT_OR_NULL,
        "format": "uuid",
        "description": "The file of the site; null for an image of another site.",
    },
    "link": {
        "type": "object",
        "description": "The post that the link leads to, if it is one of the site.",
        "required": ["id", "url"],
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "url": {"type": "string"},
        },
    },
}
"""Schemas of the attributes in `ADDED_BY_DELIVERY`."""
_SOMETIMES_ADDED: Final = "link"


def component_name(kind: str) -> str:
    """Return the name of the schema of a node or mark: `paragraph` has `RichTextParagraph`."""
    return f"RichText{kind[0].upper()}{kind[1:]}"


def rich_text_schemas() -> dict[str, JsonObject]:
    """Return the schemas by name. `RichTextDocument` refers to the others."""
    choices = {name: _choice(kinds, description) for kinds, (name, description) in _CHOICES.items()}
    document = {**_shape("doc"), "description": "Rich text: blocks with text, marks and images."}
    kinds = sorted(NODES - {"doc"}) + list(MARK_ORDER)
    return {DOCUMENT: document, **choices, **{component_name(kind): _shape(kind) for kind in kinds}}


def _shape(kind: str) -> JsonObject:
    """Return the schema of a node or mark."""
    properties: JsonObject = {"type": {"const": kind}}
    required = ["type"]
    attributes: JsonObject = {
        name: attribute.json_schema for name, attribute in ATTRIBUTES.get(kind, {}).items()
    }
    if attributes:
        needed = [REQUIRED[kind]] if kind in REQUIRED else []
        if kind in ADDED_BY_DELIVERY:
            attributes[ADDED_BY_DELIVERY[kind]] = _ADDED[kind]
            needed += [ADDED_BY_DELIVERY[kind]] if kind != _SOMETIMES_ADDED else []
        properties["attrs"] = {
            "type": "object",
            "properties": attributes,
            **({"required": [*needed]} if needed else {}),
        }
        required += ["attrs"] if needed else []
    if kind == "text":
        properties["text"] = {"type": "string"}
        required += ["text"]
    if kind in CHILDREN:
        properties["content"] = _list(CHILDREN[kind])
    if kind in INLINE:
        properties["marks"] = _list(MARK_ORDER)
    return {"type": "object", "required": [*required], "properties": properties}


def _list(kinds: tuple[str, ...]) -> JsonObject:
    name = _CHOICES[kinds][0] if kinds in _CHOICES else component_name(kinds[0])
    return {"type": "array", "items": {"$ref": _REF + name}}


def _choice(kinds: Sequence[str], description: str) -> JsonObject:
    refs = {kind: _REF + component_name(kind) for kind in kinds}
    return {
        "description": description,
        "oneOf": [{"$ref": ref} for ref in refs.values()],
        "discriminator": {"propertyName": "type", "mapping": dict(refs)},
    }
