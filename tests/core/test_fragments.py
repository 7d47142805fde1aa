"""Parts of pages that are kept: given again for equal contents only, whatever their templates look at."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.core.signals import setting_changed
from django.template import Context, Engine, Library
from django.template.exceptions import TemplateSyntaxError
from django.utils import translation
from django.utils.datastructures import MultiValueDict
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from proofroom.core.caching import fragments as fragment_module
from proofroom.core.caching.content_tags import collect_tags, depend_on
from proofroom.core.caching.fragments import (
    Fragment,
    FragmentStore,
    FrozenNames,
    freeze,
    made_of,
    note_failure,
)

register = Library()


@register.simple_tag(takes_context=True)
def everything(context: Context) -> str:
    return str(sorted(map(str, context.flatten().values())))


PARTS: Mapping[str, str] = {
    "part.html": "{{ words }} {{ count }}{{ calls }}",
    "branch.html": "{{ calls }}{% if words %}{{ words }}{% else %}{{ count }}{% endif %}",
    "outer.html": '{% load kept %}{{ calls }}[{% include_kept "part.html" %}]',
    "whole.html": "{% load everything %}{{ calls }}{% everything %}",
    "language.html": "{% load i18n %}{% get_current_language as now %}{{ now }}{{ calls }}",
    "people.html": "{{ calls }}{% for one in people %}{{ one }}{% endfor %}",
}
ENGINE = Engine(
    loaders=[
        (
            "django.template.loaders.cached.Loader",
            [("django.template.loaders.locmem.Loader", dict(PARTS))],
        )
    ],
    libraries={
        "kept": "proofroom.core.templatetags.kept",
        "everything": __name__,
        "i18n": "django.templatetags.i18n",
    },
)


class Calls:
    """Shows as nothing, and counts how often it is shown. Only what cannot be compared is a name that is not kept."""

    def __init__(self) -> None:
        self.number = 0

    def __str__(self) -> str:
        self.number += 1
        return ""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    found = Calls()
    known = fragment_module._plain
    monkeypatch.setattr(
        fragment_module, "_plain", lambda value: "calls" if value is found else known(value)
    )
    return found


def render(store: FragmentStore | None, part: str, more: str = "", **values: object) -> str:
    source = f'{{% load kept %}}{{% include_kept "{part}"{more} %}}'
    return ENGINE.from_string(source).render(Context({**values, "fragments": store}))


def test_a_part_is_rendered_once_for_equal_contents(calls: Calls) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    for _ in range(3):
        assert render(store, "part.html", words="<b>", count=1, calls=calls) == "&lt;b&gt; 1"
    # What its template does not look at is none of its contents.
    assert render(store, "part.html", words="<b>", count=1, other=object(), calls=calls)
    assert calls.number == 1

    assert render(store, "part.html", words="c", count=1, calls=calls) == "c 1"
    assert render(store, "part.html", words="c", calls=calls) == "c "
    assert calls.number == 3


def test_what_is_equal_and_shown_otherwise_is_another() -> None:
    store = FragmentStore(most_bytes=1_000_000)
    values: list[object] = [1, True, 1.0, "1", None, "None", SafeString("<b>"), "<b>", ["a"]]
    values += [datetime(2026, 1, 2, tzinfo=UTC), {"a": 1}, {"b": 1}, {"a": "1"}]
    for _ in range(2):
        for value in values:
            assert render(store, "part.html", words=value, count=0) == render(
                None, "part.html", words=value, count=0
            )


def test_a_branch_that_was_not_taken_before_is_looked_at_too(calls: Calls) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    assert render(store, "branch.html", words="a", count=1, calls=calls) == "a"
    for count in (1, 2, 1, 2):
        assert render(store, "branch.html", words="", count=count, calls=calls) == str(count)
    assert render(store, "branch.html", words="a", count=1, calls=calls) == "a"
    assert calls.number == 4


def test_a_part_within_a_part_counts_as_looked_at(calls: Calls) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    for words in ("a", "b", "a", "b", "a"):
        assert render(store, "outer.html", words=words, count=1, calls=calls) == f"[{words} 1]"
    before = calls.number
    assert render(store, "outer.html", words="a", count=1, calls=calls) == "[a 1]"
    assert calls.number == before


def test_names_given_along_are_known_inside_and_part_of_the_contents() -> None:
    store = FragmentStore(most_bytes=1_000_000)
    more = " with words=given count=2"
    assert render(store, "part.html", more, words="x", given="a") == "a 2"
    assert render(store, "part.html", more, words="x", given="b") == "b 2"
    with pytest.raises(TemplateSyntaxError):
        render(store, "part.html", " only")


def test_a_language_has_its_own(calls: Calls) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    for language in ("en", "de", "en", "de"):
        with translation.override(language):
            assert render(store, "language.html", calls=calls) == language
    assert calls.number == 2


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
    assert freeze(one) == freeze(one) is not None
    assert freeze(one) != freeze(other)
    assert freeze([one, SafeString("x")]) != freeze([other, SafeString("x")])
    assert freeze(copy.deepcopy(one)) == freeze(one)


def test_what_is_worked_out_once_is_no_content() -> None:
    @dataclass
    class Page:
        title: str

        @cached_property
        def words(self) -> list[str]:
            return self.title.split()

    one, other = Page("a b"), Page("a b")
    assert one.words == ["a", "b"]
    assert freeze(one) == freeze(other) is not None


def test_what_has_no_contents_to_compare_is_not_kept(calls: Calls) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    user = get_user_model()(email="a@example.com")
    for _ in range(2):
        assert render(store, "part.html", words=user, count=1, calls=calls)
    assert calls.number == 2
    # Nor does it spoil the part for others.
    for _ in range(2):
        render(store, "part.html", words="a", count=1, calls=calls)
    assert calls.number == 3


def test_what_reads_the_whole_context_is_not_kept(calls: Calls) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    render(store, "whole.html", secret="First", calls=calls)
    assert "Second" in render(store, "whole.html", secret="Second", calls=calls)


@pytest.mark.django_db
def test_what_asks_the_database_is_not_kept() -> None:
    store, model = FragmentStore(most_bytes=1_000_000), get_user_model()
    before = model.objects.count()

    class People:
        def __iter__(self) -> Any:
            return iter([str(model.objects.count())])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fragment_module, "_plain", lambda value: "people")
        assert render(store, "people.html", people=People()) == str(before)
        model.objects.create_user("a@example.com", "demo-password")
        assert render(store, "people.html", people=People()) == str(before + 1)


def test_without_a_store_nothing_is_kept(calls: Calls) -> None:
    for _ in range(2):
        render(None, "part.html", words="a", count=1, calls=calls)
    assert calls.number == 2


def test_a_part_says_again_what_it_depends_on_and_grows_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, frozen = FragmentStore(most_bytes=1_000_000), FrozenNames({"words": "a"})
    made = Fragment(SafeString("a"), frozenset({"post:1"}))
    store.keep("part", {"words"}, frozen, made)
    with collect_tags() as tags:
        assert store.find("part", frozen) is made
    assert tags == {"post:1"}

    later = made.made_at + fragment_module.MAX_AGE_SECONDS + 1
    monkeypatch.setattr("time.monotonic", lambda: later)
    assert store.find("part", frozen) is None


def test_what_is_made_of_equal_contents_is_made_once_and_says_again_what_it_depends_on() -> None:
    def make() -> list[str]:
        depend_on("post:1")
        return ["made"]

    first = made_of("of equal contents", {"words": "a"}, make)
    with collect_tags() as tags:
        assert made_of("of equal contents", {"words": "a"}, make) is first
    assert tags == {"post:1"}
    assert made_of("of equal contents", {"words": "b"}, make) is not first
    assert made_of("of others", {"words": "a"}, make) is not first
    with translation.override("de"):
        assert made_of("of equal contents", {"words": "a"}, make) is not first
    assert made_of("of others", {"words": object()}, make) is not made_of(
        "of others", {"words": object()}, make
    )


@pytest.mark.django_db
@pytest.mark.parametrize("fault", [note_failure, get_user_model().objects.count])
def test_what_failed_in_part_or_asked_the_database_is_made_anew(
    fault: Callable[[], object],
) -> None:
    def make() -> list[object]:
        return [made_of("within", {}, lambda: [fault()])]

    assert made_of(fault, {"words": "a"}, make) is not made_of(fault, {"words": "a"}, make)


def test_memory_is_bounded_and_the_least_used_goes_first() -> None:
    store = FragmentStore(most_bytes=10_000)
    names = [FrozenNames({"words": str(number)}) for number in range(50)]
    for frozen in names:
        store.keep("part", {"words"}, frozen, Fragment(SafeString("x" * 300)))
        assert store.find("part", names[0])
        assert store._size <= 10_000

    assert len(store._kept) == 10
    assert store.find("part", names[1]) is None
    assert store.find("part", names[-1])
    store.keep("part", {"words"}, names[-1], Fragment(SafeString("x" * 9_000)))
    assert store._size <= 10_000


def test_other_settings_make_other_parts() -> None:
    store = fragment_module.fragments
    frozen = FrozenNames({})
    store.keep("part", (), frozen, Fragment(SafeString("a")))
    assert store.find("part", frozen)
    setting_changed.send(sender=None, setting="SITE_URL", value="", enter=True)
    assert store.find("part", frozen) is None
