"""Memoized results of content: once for equal content, and never for content that only looks equal."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from functools import cached_property
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.core.signals import setting_changed
from django.utils import translation
from django.utils.datastructures import MultiValueDict
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from proofroom.core.caching.content_memo import (
    MAX_AGE_SECONDS,
    ContentMemo,
    MemoEntry,
    fingerprint,
    memoize_by_content,
    note_failure,
)
from proofroom.core.caching.content_tags import INCOMPLETE, collect_tags, depend_on


@dataclass(frozen=True)
class Card:
    title: str
    at: datetime | None = None


@dataclass(frozen=True)
class Price:
    _amount: str


@dataclass(frozen=True)
class Cost:
    _amount: str


class Priced(dict[str, str]):
    def __init__(self, amount: str) -> None:
        super().__init__(currency="EUR")
        self._amount = amount


class Size(StrEnum):
    SMALL = "s"


class Unit(Enum):
    S = "s"


class Rank(IntEnum):
    FIRST = 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Card("a"), Card("b")),
        (Card("a"), Card("a", datetime(2026, 1, 1, tzinfo=UTC))),
        ({Card("a"): [1]}, {Card("b"): [1]}),
        ({"a", "b"}, {"a"}),
        (gettext_lazy("Yes"), gettext_lazy("No")),
        (Price("10.00"), Price("99.00")),
        (Price("10.00"), Cost("10.00")),
        (Priced("10.00"), Priced("99.00")),
        (Size.SMALL, Unit.S),
        (Size.SMALL, "s"),
        ([Size.SMALL, 1], [Unit.S, 1]),
        (Rank.FIRST, 1),
        (UUID(int=1), str(UUID(int=1))),
        (Decimal("1.0"), Decimal("1.00")),
        ((1, 2), [1, 2]),
        (1, True),
        (1, 1.0),
        (SafeString("a"), "a"),
        ({"a": None}, {}),
        ({1: "a"}, {"1": "a"}),
        ({Size.SMALL: 1}, {"s": 1}),
        ({1, 2}, frozenset({1, 2})),
        (date(2026, 1, 1), "2026-01-01"),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1)),  # noqa: DTZ001
        (Card("a"), {"title": "a", "at": None}),
        (MultiValueDict({"a": ["1", "2"]}), MultiValueDict({"a": ["2"]})),
    ],
)
def test_contents_differ(one: object, other: object) -> None:
    assert fingerprint(one) == fingerprint(one) is not None
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint([one, SafeString("x")]) != fingerprint([other, SafeString("x")])
    assert fingerprint(copy.deepcopy(one)) == fingerprint(one)


def test_what_is_worked_out_once_is_no_content() -> None:
    @dataclass
    class Page:
        title: str

        @cached_property
        def words(self) -> list[str]:
            return self.title.split()

    one, other = Page("a b"), Page("a b")
    assert one.words == ["a", "b"]
    assert fingerprint(one) == fingerprint(other) is not None


def test_what_is_made_of_equal_contents_is_made_once_and_says_again_what_it_depends_on() -> None:
    def make() -> list[str]:
        depend_on("post:1")
        return ["made"]

    first = memoize_by_content("of equal contents", {"words": "a"}, make)
    with collect_tags() as tags:
        assert memoize_by_content("of equal contents", {"words": "a"}, make) is first
    assert tags == {"post:1"}
    assert memoize_by_content("of equal contents", {"words": "b"}, make) is not first
    assert memoize_by_content("of equal contents", {"text": "a"}, make) is not first
    assert memoize_by_content("of others", {"words": "a"}, make) is not first
    with translation.override("de"):
        assert memoize_by_content("of equal contents", {"words": "a"}, make) is not first
    assert memoize_by_content("of others", {"words": object()}, make) is not memoize_by_content(
        "of others", {"words": object()}, make
    )


@pytest.mark.django_db
@pytest.mark.parametrize("fault", [note_failure, get_user_model().objects.count])
def test_what_failed_in_part_or_asked_the_database_is_made_anew(
    fault: Callable[[], object],
) -> None:
    def make() -> list[object]:
        return [memoize_by_content("within", {}, lambda: [fault()])]

    first = memoize_by_content(fault, {"words": "a"}, make)
    with collect_tags() as tags:
        assert memoize_by_content(fault, {"words": "a"}, make) is not first
    assert (INCOMPLETE in tags) == (fault is note_failure)


def entry(size: int, made_at: float | None = None) -> MemoEntry:
    return MemoEntry("made", frozenset(), size, time.monotonic() if made_at is None else made_at)


def test_memory_is_bounded_and_the_least_used_goes_first() -> None:
    memo = ContentMemo(most_bytes=10_000)
    keys = [("part", None, str(number).encode()) for number in range(50)]
    for key in keys:
        memo.keep(key, entry(1_000))
        assert memo.find(keys[0])
        assert memo._size <= 10_000

    assert len(memo._entries) == 10
    assert memo.find(keys[1]) is None
    assert memo.find(keys[-1])
    memo.keep(keys[-1], entry(9_500))
    assert memo._size <= 10_000


def test_an_entry_grows_old() -> None:
    memo = ContentMemo(most_bytes=10_000)
    key = ("part", None, b"a")
    memo.keep(key, entry(10, time.monotonic() - MAX_AGE_SECONDS - 1))

    assert memo.find(key) is None


def test_other_settings_make_other_parts() -> None:
    first = memoize_by_content("of settings", {}, lambda: ["made"])
    setting_changed.send(sender=None, setting="SITE_URL", value="", enter=True)

    assert memoize_by_content("of settings", {}, lambda: ["made"]) is not first
