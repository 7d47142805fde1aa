"""Rare cases of Markdown that property tests hardly find."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.nodes import to_text
from proofroom.definitions.richtext.schema import MAX_QUOTES, validate

Node = dict[str, Any]
BOLD, ITALIC, CODE = {"type": "bold"}, {"type": "italic"}, {"type": "code"}
LINK = {"type": "link", "attrs": {"href": "/a"}}


def text(value: str, *marks: Node) -> Node:
    return (
        {"type": "text", "text": value, "marks": list(marks)}
        if marks
        else {
            "type": "text",
            "text": value,
        }
    )


def paragraph(*content: Node) -> Node:
    return {"type": "paragraph", "content": list(content)}


def bullets(*items: list[Node]) -> Node:
    found = [{"type": "listItem", "content": item} for item in items]
    return {"type": "bulletList", "content": found}


EMPTY_ITEM: list[Node] = [{"type": "paragraph"}]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (paragraph(text("see!"), text("a", LINK)), "see&#33;[a](/a)\n"),
        (
            paragraph(text("x"), text("a", BOLD), text("b", BOLD, ITALIC)),
            "&#120;**&#97;_b_**\n",
        ),
        (paragraph(text("x"), text(" a ", BOLD), text("y")), "&#120;**&#32;a&#32;**&#121;\n"),
        (paragraph(text("a", ITALIC), text("b", BOLD)), "_a_**b**\n"),
        (paragraph(text("`", CODE)), "`` ` ``\n"),
        (paragraph(text("1. a")), "1\\. a\n"),
        (paragraph(text("# - a_b snake_case_")), "\\# - a_b snake_case\\_\n"),
        (paragraph(text("&amp; & &x")), "\\&amp; & &x\n"),
        (
            bullets([*EMPTY_ITEM, bullets([*EMPTY_ITEM, bullets(EMPTY_ITEM)])]),
            "- + -\n",
        ),
        (
            bullets([paragraph(text("a")), bullets(EMPTY_ITEM)], [paragraph(text("b"))]),
            "- a\n\n  -\n\n- b\n",
        ),
    ],
)
def test_a_corner_comes_back(block: Node, expected: str) -> None:
    document = {"type": "doc", "content": [block]}

    assert to_markdown(document) == expected
    assert from_markdown(expected) == document


def test_neighbouring_lists_stay_two_lists() -> None:
    one = bullets([paragraph(text("a"))])
    document = {"type": "doc", "content": [one, one, one]}

    assert to_markdown(document) == "- a\n\n+ a\n\n- a\n"
    assert from_markdown(to_markdown(document)) == document


@pytest.mark.parametrize(
    ("source", "kept"),
    [(">" * 40 + " deep", ">" * (40 - MAX_QUOTES) + " deep"), ("- " * 40 + "deep", "deep")],
)
def test_what_is_nested_too_deep_stays_as_text(source: str, kept: str) -> None:
    document = from_markdown(source)

    assert validate(document) == []
    assert to_text(document).endswith(kept)


def test_a_row_with_more_cells_than_the_header_keeps_them() -> None:
    document = from_markdown("> - |a|b|\n>   |-|-|\n>   |c|d|e\\|f|g|\n>   |h|")

    assert to_text(document) == "a\tb\nc\td | e|f | g\nh\t"
