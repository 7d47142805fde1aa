"""Addresses in texts: the same one in any spelling, and never a longer one."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.core.errors import RuleViolation
from proofroom.core.privacy.person import Person, clean_email

ANNA = Person("anna@example.com")


@pytest.mark.parametrize(
    "text",
    [
        "anna@example.com",
        "Write to Anna@Example.COM.",
        "<anna@example.com>",
        "'anna@example.com'",
        "mailto:anna@example.com?subject=x",
        "https://example.com/?to=anna%40example.com&a=1",
        "ann, anna@example.com, anne",
        r'{"text": "Hello\nanna@example.com\n"}',
        r'{"to": "\\tAnna@example.com"}',
        r'{"to": "\u003canna@example.com\u003e"}',
        r'{"to": "\u003Canna@example.com"}',
        "https://example.com/?q=mailto%3Aanna%40example.com",
        "https://example.com/?q=to%3danna%40example.com%26x",
        "https://example.com/?q=%0Aanna@example.com",
        "https://example.com/?next=%253Fto%253Danna%40example.com",
    ],
)
def test_an_address_is_found_in_any_spelling(text: str) -> None:
    assert ANNA.is_mentioned(text)
    assert ANNA.is_mentioned({"a": [{"b": text}]})
    assert not ANNA.is_mentioned(ANNA.mask({"a": [{"b": text}]}))


@pytest.mark.parametrize(
    "text",
    [
        "joanna@example.com",
        "anna@example.com.au",
        "anna@example.community",
        "x.anna@example.com",
        "x+anna@example.com",
        "x%2Banna@example.com",
        "x%2Eanna%40example.com",
        "%61anna@example.com",
        r"jo\u002eanna@example.com",
        r"\u00e9anna@example.com",
        r"\xanna@example.com",
        "3aanna@example.com",
        "anna@example.com-shop",
        "annaXexample.com",
        "anna@exampleXcom",
    ],
)
def test_a_longer_address_is_another_person(text: str) -> None:
    assert not ANNA.is_mentioned(text)
    assert ANNA.mask(text) == text


def test_masking_changes_only_the_address() -> None:
    value = {
        "to": "Anna@example.com",
        "n": 3,
        "ok": True,
        "none": None,
        "more": ["x", "joanna@example.com"],
    }

    assert ANNA.mask(value) == {**value, "to": "[erased]"}


def test_deep_values_are_searched_without_recursion() -> None:
    value: Any = "anna@example.com"
    for _ in range(5_000):
        value = [value]

    assert ANNA.is_mentioned(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "anna",
        "anna@",
        "a@b@c.com",
        "anna@example.com\nx",
        "a" * 250 + "@example.com",
        "%",
        "anna@%.com",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        clean_email(text)

    assert [*refused.value.details] == ["email"]


def test_addresses_are_compared_in_lower_case() -> None:
    assert clean_email("  Anna@Example.COM ") == "anna@example.com"
