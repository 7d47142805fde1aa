"""Content without an equivalent in Markdown becomes the closest equivalent."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.schema import EMPTY

Node = dict[str, Any]


def test_nothing_becomes_the_empty_document() -> None:
    assert from_markdown(" \n\n") == EMPTY
    assert to_markdown(EMPTY) == ""
    assert from_markdown("") is not EMPTY


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([{"type": "paragraph"}, {"type": "horizontalRule"}], "___\n"),
        (
            [
                {
                    "type": "table",
                    "content": [
                        {
                            "type": "tableRow",
                            "content": [
                                {
                                    "type": "tableCell",
                                    "attrs": {"colspan": 2},
                                    "content": [
                                        {
                                            "type": "codeBlock",
                                            "content": [{"type": "text", "text": "a|b\nc"}],
                                        },
                                        {
                                            "type": "paragraph",
                                            "content": [{"type": "text", "text": "d"}],
                                        },
                                    ],
                                }
                            ],
                        }
                    ],
                }
            ],
            "| `a\\|b`<br>`c`<br>d |\n| --- |\n",
        ),
    ],
)
def test_what_markdown_cannot_express_is_normalised(document: list[Node], expected: str) -> None:
    assert to_markdown({"type": "doc", "content": document}) == expected
