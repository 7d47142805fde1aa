"""Passages of comments are found again after edits, or known to be removed."""

from __future__ import annotations

import sys
import time

import pytest

from proofroom.core.json import Json
from proofroom_apps.comments.anchors import (
    Anchor,
    anchor_at,
    find_exact,
    locate,
    text_of,
)

TEXT = (
    "Grind the beans just before you brew. Pour the water slowly in circles, and let the coffee "
    "bloom for half a minute. Pour the rest in three parts."
)


def anchor(quote: str, text: str = TEXT) -> Anchor:
    start = text.index(quote)
    return anchor_at(text, start, start + len(quote))


@pytest.mark.parametrize(
    ("quote", "now", "expected"),
    [
        ("slowly in circles", f"First: {TEXT}", "slowly in circles"),
        (
            "slowly in circles",
            TEXT.replace("slowly in circles", "gently in circles"),
            "gently in circles",
        ),
        ("slowly", TEXT.replace("slowly", "with patience"), "with patience"),
        ("slowly", TEXT.replace(" slowly", ""), None),
        (
            "slowly in circles",
            TEXT.replace("Pour the water slowly in circles, and let", "Let"),
            None,
        ),
        ("slowly in circles", "", None),
        # Of the same words the place with the same surroundings.
        ("Pour the rest", TEXT, "Pour the rest"),
        # The same word elsewhere is not the passage.
        ("the", TEXT.replace("Grind the beans", "Grind beans"), None),
    ],
    ids=["moved", "edited", "replaced", "deleted", "sentence", "empty", "same", "elsewhere"],
)
def test_a_passage_after_an_edit(quote: str, now: str, expected: str | None) -> None:
    found = locate([now], anchor(quote))

    assert (found.quote if found else None) == expected


def test_the_same_words_win_over_edited_ones_in_an_earlier_layer() -> None:
    edited = TEXT.replace("slowly in circles", "quickly in circles")

    found = locate([edited, TEXT], anchor("slowly in circles"))

    assert found is not None
    assert found.quote == "slowly in circles"


def test_of_equal_words_the_nearest_surroundings_count() -> None:
    text = "One cup of water. Two cups of water. Three cups of water."
    second = text.index("of water", 20)

    place = find_exact(text, anchor_at(text, second, second + 8))

    assert place == (second, second + 8)


def test_a_passage_that_is_the_whole_text() -> None:
    whole = Anchor("How to brew filter coffee")

    found = locate(["How to brew good filter coffee"], whole)

    assert found == Anchor("How to brew good filter coffee")
    assert locate(["Repairing bicycles"], whole) is None
    assert locate([""], whole) is None


def test_words_of_rich_text_and_lists() -> None:
    document: Json = {
        "type": "doc",
        "content": [
            {"type": "paragraph", "content": [{"type": "text", "text": "Grind\u00a0the"}]},
            {"type": "paragraph", "content": [{"type": "text", "text": "beans."}]},
        ],
    }

    assert text_of(document) == "Grind the beans."
    assert text_of([{"question": "Why?", "answer": document}, 3, None]) == "Why? Grind the beans."


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "a b " * 50_000, "( [ { " * 30_000], ids=["one word", "words", "marks"]
)
def test_hostile_texts_are_searched_quickly(text: str) -> None:
    hostile = Anchor(text[:1000], text[:60], text[:60])
    other = Anchor("b" * 1000, text[:60], text[:60])

    started = time.process_time()
    locate([text, text[::-1]], hostile)
    locate([text, text[::-1]], other)

    # Bounded by the number of places, not by the text; a search of all places takes minutes.
    assert time.process_time() - started < 30


def test_threat_26_repeated_surroundings_are_cheap() -> None:
    """A quote with the same words around fifty other texts of the same words, as only an attacker writes them."""
    before, after = "before " * 9, " after" * 10
    texts = [" ".join("ab"[(place * step) % 7 < 3] for step in range(300)) for place in range(50)]
    text = " ".join(f"{before}{one}{after}" for one in texts)
    work = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal work
        work += 1

    former = sys.getprofile()
    sys.setprofile(count)
    try:
        locate([text], Anchor("c " + "a b " * 150, before.strip(), after.strip()))
    finally:
        sys.setprofile(former)

    assert work < 20_000
