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
