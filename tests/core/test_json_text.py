"""Error messages about JSON typed by a user."""

from __future__ import annotations

import pytest

from proofroom.core.validation.json_text import read_json


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1\n "b": 2}', 'Line 2: a comma or a closing bracket is missing before “"b": 2}”.'),
        ('{"a" 1}', "Line 1: a colon is missing before “1}”."),
        ("{\n  name: 1}", "Line 2: a name needs straight double quotes: “name: 1}”."),
        ('{\n"a": 1,\n}', "Line 3: remove the comma before “}”."),
        ("[1,\n]", "Line 2: remove the comma before “]”."),
        (
            '{"a": “x”}',
            "Line 1: a value is missing, or text has no straight double quotes: ““x”}”.",
        ),
        ('{"a": "b', 'Line 1: the closing double quote is missing: “"b”.'),
        (
            '["a\n"]',
            "Line 1: text has a line break or a tab, or its closing double quote is missing.",
        ),
        ('["\\x"]', "Line 1: a backslash in text must be typed twice."),
        ('["\\u12"]', "Line 1: after \\u come four digits or letters from a to f."),
        ("{}\n{}", "Line 2: the JSON ends before “{}”. Remove what follows."),
        ('{"a":\n\n', "Line 1: a bracket or a value is missing at the end."),
        ("\ufeff{}", "Line 1: “\ufeff{}” cannot be read."),
        ("[" * 100_000, "It is nested too deeply."),
        ("1" * 5_000, "It has a number with too many digits."),
        (
            "[x" + "y" * 99,
            f"Line 1: a value is missing, or text has no straight double quotes: “x{'y' * 28}…”.",
        ),
    ],
)
def test_json_that_is_none_is_refused_by_its_line(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"^This is not valid JSON") as refused:
        read_json(text)

    assert str(refused.value) == f"This is not valid JSON. {reason}"


def test_json_is_read() -> None:
    assert read_json('{"a": [1, null]}') == {"a": [1, None]}
