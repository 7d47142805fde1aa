"""How a text is cut into words: the same for what is kept and for what is asked."""

from __future__ import annotations

import pytest

from proofroom.core.search import (
    MAX_INDEXED_BYTES,
    MAX_INDEXED_WORDS,
    MAX_QUERY_WORDS,
    MAX_WORD_LENGTH,
    cut,
    query_words,
    word_positions,
    words_beginning,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Café CRÈME", ["cafe", "creme"]),
        ("Cafe\u0301", ["cafe"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("Œuvre, Łódź; smørrebrød", ["oeuvre", "lodz", "smorrebrod"]),
        ("ﬁlter ２０２６", ["filter", "2026"]),
        ("İstanbul ılık", ["istanbul", "ilik"]),
        ("how-to_brew/coffee.html", ["how", "to", "brew", "coffee", "html"]),
        ("Кофе Ёлка", ["кофе", "елка"]),
        ("咖啡 filter", ["咖", "啡", "filter"]),
        ("한국어", ["한국어"]),
        ("\x00 \ud800 🦆 -- ' \" * : & | ! ( ) <->", []),
        ("NEAR AND coffee* title:tea", ["near", "and", "coffee", "title", "tea"]),
    ],
)
def test_words_have_neither_case_nor_accents_nor_signs(text: str, words: list[str]) -> None:
    assert cut(text, "en").folded == words
    assert [word.folded for word in query_words(text)] == words


@pytest.mark.parametrize(
    "text",
    [
        "A kettle, KETTLES and the teakettle; kettle_kettle kett",
        "Kéttle ﬂat ket́tle KETTLE “kettle” ’kettle",
        "咖啡kettle 咖kettle啡 한국어kettle kettle",
        "İ kettle",
        "straße kettleß Kettle",
    ],
)
def test_words_with_a_beginning_are_all_of_those_words_where_they_stand(text: str) -> None:
    begins = [found for found in word_positions(text) if found[2].startswith("kett")]

    assert [found for found in words_beginning(text, ["kett"]) if found in begins] == begins
    assert set(words_beginning(text, ["kett"])) <= set(word_positions(text))
    assert list(words_beginning("Nothing like this here.", ["kett", ""])) == []


def test_german_umlauts_are_also_two_letters_and_only_there() -> None:
    assert cut("Müller größe tür", "de").folded == [
        "muller", "mueller", "grosse", "groesse", "tur", "tuer",
    ]  # fmt: skip
    assert cut("Müller", "de-AT").folded == ["muller", "mueller"]
    assert cut("Müller", "en").folded == ["muller"]


def test_words_with_accents_are_kept_as_they_are_spelled_too() -> None:
    assert cut("Été à la plage", "fr").accented == ["été", "à"]


def test_a_text_is_cut_within_bounds() -> None:
    assert len(cut("a " * 1_000_000, "en").folded) == MAX_INDEXED_WORDS
    long = cut(" ".join(f"{number:060}" for number in range(20_000)), "en")
    assert sum(len(word) for word in long.folded) <= MAX_INDEXED_BYTES
    assert cut("x" * 1_000_000, "en").folded == ["x" * MAX_WORD_LENGTH]
    assert len(query_words("tea " * 100_000)) == MAX_QUERY_WORDS
