"""Hostile input takes work proportional to its length: measured in calls, not in seconds."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from proofroom.definitions.richtext.html import to_html
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.schema import validate

SLOW = {
    "brackets": "[",
    "images": "![",
    "links": "[a](",
    "references": "[a][",
    "quotes": "> ",
    "lists": "- ",
    "emphasis": "*a_ ",
    "openers": "**a ",
    "ticks": "`a``b",
    "pipes": "|",
    "table": "a|b\n-|-\n",
    "entities": "&#",
    "angles": "<a",
    "backslashes": "\\",
    "definitions": "[a]: <b\n",
    "tildes": "~~a~",
    "breaks": "<br>",
}


def calls(source: str) -> int:
    """Return the number of Python and C calls to read, check and write a text."""
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    sys.setprofile(seen)
    try:
        document = from_markdown(source)
        validate(document)
        to_html(document)
        to_markdown(document)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("case", SLOW)
def test_threat_26_hostile_markdown_takes_linear_work(case: str) -> None:
    unit = SLOW[case]
    small, large = (unit * (size // len(unit)) for size in (1_000, 4_000))

    # Four times the input: a quadratic step would make sixteen times the calls.
    assert calls(large) < 6 * calls(small)


def test_threat_26_lazy_lines_below_many_quotes_take_linear_work() -> None:
    assert calls(">" * 50 + "a\n" * 2_000) < 6 * calls(">" * 50 + "a\n" * 500)
