"""Conditions in files: each operator, and errors."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from proofroom.core.conditions import Condition, value_at

VALUES: dict[str, Any] = {
    "data": {
        "title": "Green tea",
        "views": 12,
        "price": 2.5,
        "is_new": True,
        "nothing": None,
        "paths": ["post.title", "post.slug"],
        "items": [{"name": "first"}, {"name": "second"}],
        "day": "2026-11-21T10:00:00Z",
    }
}


def condition(field: str, operator: str, value: Any = None) -> Condition:
    return Condition.model_validate({"field": field, "operator": operator, "value": value})


@pytest.mark.parametrize(
    ("field", "operator", "value", "expected"),
    [
        ("data.title", "equals", "Green tea", True),
        ("data.title", "equals", "green tea", False),
        ("data.views", "equals", 12, True),
        ("data.views", "equals", "12", False),
        ("data.is_new", "equals", True, True),
        ("data.is_new", "equals", 1, False),
        ("data.nowhere", "equals", None, False),
        ("data.nothing", "equals", None, True),
        ("data.title", "not_equals", "Black tea", True),
        ("data.title", "not_equals", "Green tea", False),
        ("data.nowhere", "not_equals", "Green tea", True),
        ("data.title", "contains", "tea", True),
        ("data.title", "contains", 1, False),
        ("data.paths", "contains", "post.title", True),
        ("data.paths", "contains", "post", False),
        ("data.views", "contains", 1, False),
        ("data.views", "greater_than", 11, True),
        ("data.views", "greater_than", 12, False),
        ("data.views", "less_than", 12.5, True),
        ("data.views", "less_than", 12, False),
        ("data.views", "greater_than", "1", False),
        ("data.is_new", "greater_than", 0, False),
        ("data.day", "greater_than", "2026-11-01", True),
        ("data.day", "less_than", "2026-11-01", False),
        ("data.nowhere", "less_than", 1, False),
        ("data.title", "matches", "Green.*", True),
        ("data.title", "matches", "Green", False),
        ("data.views", "matches", "12", False),
        ("data.title", "in", ["Black tea", "Green tea"], True),
        ("data.is_new", "in", [1], False),
        ("data.title", "in", [], False),
        ("data.title", "exists", None, True),
        ("data.title", "exists", False, False),
        ("data.nothing", "exists", True, False),
        ("data.nowhere", "exists", False, True),
        ("data.items.1.name", "equals", "second", True),
        ("data.items.2.name", "exists", False, True),
        ("data.title.0", "exists", False, True),
    ],
)
def test_operators(field: str, operator: str, value: Any, expected: bool) -> None:
    assert condition(field, operator, value).holds(VALUES) is expected


@pytest.mark.parametrize(
    ("operator", "value", "reason"),
    [
        ("is", 1, "'equals'"),
        ("in", "a", "needs a list"),
        ("exists", "yes", "needs true, false or no value"),
        ("exists", 1.5, "needs true, false or no value"),
        ("greater_than", True, "needs a number or text"),
        ("less_than", None, "needs a number or text"),
        ("matches", None, "needs a pattern"),
        ("matches", "(", "is no regular expression"),
        ("matches", "(?=a)b", "may group with"),
        ("matches", "a" * 201, "at most 200"),
        ("matches", "((a{1,500}){1,500}){1,500}", "repeats too much"),
    ],
)
def test_a_value_that_does_not_fit_its_operator_is_refused(
    operator: str, value: Any, reason: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        condition("data.title", operator, value)

    assert reason in str(refused.value)


def test_a_path_through_what_is_no_object_finds_nothing() -> None:
    assert value_at({"a": {"0": "key"}}, "a.0") == "key"
    assert value_at({"a": ["x"]}, "a.-1", "none") == "none"
    assert value_at({"a": ["x"]}, "a.٠", "none") == "none"
    assert value_at({"a": ["x"]}, "a.99999999999999", "none") == "none"
    assert value_at({"a": None}, "a.b", "none") == "none"
    assert value_at({"a": {"": 1}}, "a.", "none") == 1
