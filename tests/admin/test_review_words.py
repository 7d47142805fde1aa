from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from content.comparison.comparison import ValueShape, compare
from content.comparison.difference_text import length_note, note_of, summarize
from content.comparison.references import References
from content.document.differences import Segment, diff_text
from content.layers import submit
from content.models import Layer
from content.presenters.cards import cards_of_layer
from content.templatetags.merged_text import drawn_line
from proofroom.definitions.richtext.markdown_reader import from_markdown
from tests import make

_texts = st.text(st.sampled_from(list("ab ,.\n")) | st.characters(codec="utf-8"), max_size=60)


@given(_texts, _texts)
def test_the_new_text_is_what_stays_and_comes(before: str, after: str) -> None:
    segments = diff_text(before, after)

    assert "".join(part.text for part in segments if part.kind != "removed") == after
    if before.split() != after.split():
        assert {part.kind for part in segments} != {"same"}


def test_words_are_compared_and_the_space_before_them_is_not_marked() -> None:
    assert diff_text("Take 40 g of it", "Take 45 g of it") == [
        Segment("same", "Take"),
        Segment("same", " "),
        Segment("removed", "40"),
        Segment("inserted", "45"),
        Segment("same", " g of it"),
    ]


def test_scripts_without_spaces_are_compared_by_character() -> None:
    assert Segment("inserted", "好") in diff_text("我喝咖啡今天早上", "我喝好咖啡今天早上")


def lines_run(work: Callable[[], object]) -> int:
    """Return the number of executed lines of Python, which does not depend on the machine's load."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 50_000, "b a " * 50_000),
        ("a b " * 700, "b a " * 700),
        ("." * 100_000, ",." * 50_000),
        ("x" * 100_000, "y" * 100_000),
        (
            " ".join(str(n % 97) for n in range(20_000)),
            " ".join(str(n % 89) for n in range(20_000)),
        ),
    ],
    ids=["repeated", "shifted", "punctuation", "one word", "numbers"],
)
def test_threat_26_hostile_texts_are_compared_with_bounded_work(before: str, after: str) -> None:
    assert lines_run(lambda: diff_text(before, after)) < 3_000_000


def test_rich_text_pairs_alike_blocks_and_sees_changed_links() -> None:
    before = from_markdown(
        "# Coffee\n\nGrind 40 g of beans well.\n\nSee [here](https://a.example)."
    )
    after = from_markdown(
        "# Coffee\n\nGrind 45 g of beans well.\n\nA new one.\n\nSee [here](https://b.example)."
    )

    found = compare(before, after, ValueShape("richtext"))

    assert [(line.status, [one.kind for one in line.differences]) for line in found.lines] == [
        ("same", []),
        ("changed", ["text", "number"]),
        ("inserted", ["text"]),
        ("changed", ["link"]),
    ]


def test_numbers_and_links_are_named_and_the_summary_says_it_in_words() -> None:
    before = from_markdown("one two three four five six seven eight nine ten 40")
    after = from_markdown("one two three four five six [45](https://b.example)")

    found = compare(before, after, ValueShape("richtext"))

    assert [note_of(one, References()).text for one in found.differences[1:]] == [
        "Number changed: 40 → 45",
        "Number in words changed: three four five six seven eight nine ten → three four five six",
        "Link added: https://b.example",
    ]
    assert summarize(found) == "Shortened by 36 %, 1 link added, 1 number changed."


def test_a_long_meta_title_says_how_much_is_cut() -> None:
    said = length_note("post.metaTitle", "x" * 48, "x" * 61)
    assert said == "48 → 61 characters, 1 more than search results show"


@pytest.mark.django_db
def test_the_digits_of_a_slug_are_no_numbers_that_changed() -> None:
    post = make.post(slug="proposed-f00cadaf1bef")
    make.staged(post, {"slug": "sourdough-at-home", "excerpt": "Bake at 250 degrees."})

    groups = cards_of_layer(make.layers(post).ai_review, References(), is_live=False)
    cards = groups[0].cards

    told = {card.path: (card.is_flagged, card.summary) for card in cards}
    assert told["post.slug"] == (True, "")
    assert told["post.excerpt"][0] is True


@pytest.mark.django_db
def test_only_a_change_that_cannot_be_submitted_is_flagged() -> None:
    post = make.post()
    make.staged(post, {"title": "By a person"}, layer=Layer.REVIEW)
    make.staged(post, {"title": "By AI", "excerpt": "By AI"})
    submit(post_id=post.pk, actor=make.actor(), paths=["post.title"])

    groups = cards_of_layer(make.layers(post).ai_review, References(), is_live=True)

    cards = [card for group in groups for card in group.cards]
    flags = {card.path: [flag.kind for flag in card.flags] for card in cards}
    assert flags == {"post.title": ["conflict"], "post.excerpt": []}


@pytest.mark.django_db
def test_a_plain_line_is_drawn_as_its_template_shows_it() -> None:
    post = make.post(excerpt="Old <b> 40 g", markdown="# A\n\nOne & two.\n\n    code")
    module = make.module_id(post, "prose")
    make.staged(post, {"excerpt": "New <i>  5 g ", "slug": "else"})
    make.staged_module(post, module, content_markdown="# B\n\nOne & three 5.\n\n    other")
    groups = cards_of_layer(make.layers(post).ai_review, References(), is_live=True)
    lines = [
        line
        for group in groups
        for card in group.cards
        for one in card.stretches
        for line in one.lines
    ]
    plain = [line for line in lines if line.is_plain]

    assert len(plain) >= 3
    for line in plain:
        shown = render_to_string("admin/cms/line.html", {"line": line})
        assert "".join(drawn_line(line).split()) == "".join(shown.split())
