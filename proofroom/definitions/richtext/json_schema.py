"""The JSON Schema of rich text as the delivery API answers it: a named schema for each node and mark.

`schema.validate` decides on what is stored. Answers have more: ids of headings, posts of links, ids of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proofroom.core.json import JsonObject
from proofroom.definitions.richtext.nodes import MARK_ORDER
from proofroom.definitions.richtext.schema import ALIGNMENTS

DOCUMENT: Final = "RichTextDocument"
_REF: Final = "#/components/schemas/"
_TEXT_OR_NULL: Final[JsonObject] = {"type": ["string", "null"]}
_BLOCKS: Final[tuple[str, ...]] = (
    "paragraph",
    "heading",
    "bulletList",
    "orderedList",
    "blockquote",
    "codeBlock",
    "horizontalRule",
    "table",
)
_INLINE: Final[tuple[str, ...]] = ("text", "image", "hardBreak")
_CELLS: Final[tuple[str, ...]] = ("tableHeader", "tableCell")
_CELL_ATTRIBUTES: Final[JsonObject] = {
    "colspan": {"type": "integer"},
    "rowspan": {"type": "integer"},
    "colwidth": {"type": ["array", "null"], "items": {"type": "integer"}},
    "align": {"type": ["string", "null"], "enum": [*ALIGNMENTS, None]},
}


def component_name(kind: str) -> str:
    """Return the name of the schema of a node or mark: `paragraph` has `RichTextParagraph`."""
    return f"RichText{kind[0].upper()}{kind[1:]}"


def rich_text_schemas() -> dict[str, JsonObject]:
    """Return the schemas by name. `RichTextDocument` refers to the others."""
    nodes: dict[str, JsonObject] = {
        "paragraph": _node("paragraph", content="RichTextInline"),
        "heading": _node(
            "heading",
            content="RichTextInline",
            attributes={
                "level": {"type": "integer", "minimum": 1, "maximum": 6},
                "id": {
                    "type": "string",
                    "description": "Unique on the page; the pages of the site have the same.",
                },
            },
            required=("level", "id"),
        ),
        "bulletList": _node("bulletList", content="RichTextListItem"),
        "orderedList": _node(
            "orderedList",
            content="RichTextListItem",
            attributes={
                "start": {"type": "integer"},
                "type": {"type": ["string", "null"], "enum": ["1", "a", "A", "i", "I", None]},
            },
        ),
        "listItem": _node("listItem", content="RichTextBlock"),
        "blockquote": _node("blockquote", content="RichTextBlock"),
        "codeBlock": _node(
            "codeBlock",
            content="RichTextText",
            attributes={"language": {**_TEXT_OR_NULL, "description": "Like `python`."}},
        ),
        "horizontalRule": _node("horizontalRule"),
        "table": _node("table", content="RichTextTableRow"),
        "tableRow": _node("tableRow", content="RichTextTableCellOrHeader"),
        "tableHeader": _node("tableHeader", content="RichTextBlock", attributes=_CELL_ATTRIBUTES),
        "tableCell": _node("tableCell", content="RichTextBlock", attributes=_CELL_ATTRIBUTES),
        "text": _text(),
        "image": _node(
            "image",
            attributes={
                "src": {"type": "string", "description": "The address of the image, absolute."},
                "alt": _TEXT_OR_NULL,
                "title": _TEXT_OR_NULL,
                "mediaId": {
                    **_TEXT_OR_NULL,
                    "format": "uuid",
                    "description": "The file of the site; null for an image of another site.",
                },
            },
            required=("src", "mediaId"),
            has_marks=True,
        ),
        "hardBreak": _node("hardBreak", has_marks=True),
    }
    marks = {kind: _mark(kind) for kind in MARK_ORDER if kind != "link"}
    marks["link"] = _link()
    return {
        DOCUMENT: {
            "type": "object",
            "description": "Rich text: blocks with text, marks and images.",
            "required": ["type"],
            "properties": {"type": {"const": "doc"}, "content": _list("RichTextBlock")},
        },
        "RichTextBlock": _choice(_BLOCKS, "A block."),
        "RichTextInline": _choice(_INLINE, "Text, an image or a line break."),
        "RichTextTableCellOrHeader": _choice(_CELLS, "A cell of a table."),
        "RichTextMark": _choice(MARK_ORDER, "The form of a text, or a link."),
        **{component_name(kind): shape for kind, shape in (nodes | marks).items()},
    }


def _node(
    kind: str,
    *,
    content: str = "",
    attributes: JsonObject | None = None,
    required: Sequence[str] = (),
    has_marks: bool = False,
) -> JsonObject:
    properties: JsonObject = {"type": {"const": kind}}
    names = ["type"]
    if attributes is not None:
        properties["attrs"] = {
            "type": "object",
            "properties": attributes,
            **({"required": list(required)} if required else {}),
        }
        names += ["attrs"] if required else []
    if content:
        properties["content"] = _list(content)
    if has_marks:
        properties["marks"] = _list("RichTextMark")
    return {"type": "object", "required": [*names], "properties": properties}


def _text() -> JsonObject:
    properties: JsonObject = {
        "type": {"const": "text"},
        "text": {"type": "string"},
        "marks": _list("RichTextMark"),
    }
    return {"type": "object", "required": ["type", "text"], "properties": properties}


def _mark(kind: str) -> JsonObject:
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"const": kind}},
    }


def _link() -> JsonObject:
    attributes: JsonObject = {
        "href": {"type": "string", "description": "For a post its present path."},
        "post": {
            "type": "object",
            "description": "The post that the link leads to, if it is one of the site.",
            "required": ["id", "url"],
            "properties": {
                "id": {"type": "string", "format": "uuid"},
                "url": {"type": "string"},
            },
        },
        "title": _TEXT_OR_NULL,
        "target": {"type": ["string", "null"], "enum": ["_blank", "_self", None]},
        "rel": _TEXT_OR_NULL,
        "class": {"type": "null"},
    }
    return {
        "type": "object",
        "required": ["type", "attrs"],
        "properties": {
            "type": {"const": "link"},
            "attrs": {"type": "object", "required": ["href"], "properties": attributes},
        },
    }


def _list(name: str) -> JsonObject:
    return {"type": "array", "items": {"$ref": _REF + name}}


def _choice(kinds: Sequence[str], description: str) -> JsonObject:
    refs = {kind: _REF + component_name(kind) for kind in kinds}
    return {
        "description": description,
        "oneOf": [{"$ref": ref} for ref in refs.values()],
        "discriminator": {"propertyName": "type", "mapping": dict(refs)},
    }
