"""Input made to be slow takes time in proportion to its length."""

from __future__ import annotations

import time

import pytest

from content.richtext.html import to_html
from content.richtext.markdown import from_markdown, to_markdown
from content.richtext.schema import validate

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


def seconds(source: str) -> float:
    # Processor time, because other work on the machine is not the parser's fault.
    began = time.process_time()
    document = from_markdown(source)
    validate(document)
    to_html(document)
    to_markdown(document)
    return time.process_time() - began


@pytest.mark.parametrize("case", SLOW)
def test_threat_26_hostile_markdown_takes_linear_time(case: str) -> None:
    unit = SLOW[case]
    small, large = (unit * (size // len(unit)) for size in (12_500, 50_000))

    # Four times the input: a quadratic step would take sixteen times as long.
    assert seconds(large) < 9 * max(seconds(small), 0.05)


def test_threat_26_lazy_lines_below_many_quotes_take_linear_time() -> None:
    assert seconds(">" * 50 + "a\n" * 20_000) < 9 * max(seconds(">" * 50 + "a\n" * 5_000), 0.05)
