"""Values that a database cannot store or read back are refused on input, with their path."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.core.errors import RuleViolation
from proofroom.core.validation.input_validation import is_deeper, reject_unstorable

Value = Any


def _nested(levels: int) -> Value:
    value: Value = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("a\x00", "body"),
        ({"a": [{"b": "\x00"}]}, "a.0.b"),
        ({"a": {"\x00": 1}}, "a"),
        ({"a": {"\ud800": 1}}, "a"),
        ({"a": "\ud800"}, "a"),
        ({"a": [0, float("nan")]}, "a.1"),
        ({"a": float("-inf")}, "a"),
        ({"a": 2**53 + 1}, "a"),
        ({"a": -(10**400)}, "a"),
        ({"a": 1e308}, "a"),
    ],
    ids=ascii,
)
def test_the_path_of_what_is_wrong_is_named(value: Value, path: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        reject_unstorable(value)

    assert list(caught.value.details) == [path]
    assert "\x00" not in caught.value.message
    caught.value.message.encode()


def test_the_field_precedes_the_path_in_details() -> None:
    with pytest.raises(RuleViolation) as caught:
        reject_unstorable({"a": "\x00"}, "context")

    assert list(caught.value.details) == ["context.a"]


def test_what_can_be_stored_passes() -> None:
    reject_unstorable(
        {"a": [1, -(2**53), 2**53, 0.1, True, None, "Grüße 🙂\n"], "b": {"c": _nested(61)}}
    )


def test_nesting_is_bounded() -> None:
    assert not is_deeper(_nested(64))
    assert is_deeper(_nested(65))
    reject_unstorable(_nested(64))
    with pytest.raises(RuleViolation, match="64 levels"):
        reject_unstorable(_nested(65))
    with pytest.raises(RuleViolation, match="64 levels"):
        reject_unstorable(_nested(100_000))
