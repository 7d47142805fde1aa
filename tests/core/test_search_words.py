"""Splitting of texts into words: the same for indexing and searching."""

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
def test_a_prefix_finds_all_its_words_with_their_positions(text: str) -> None:
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


@pytest.mark.parametrize(
    ("text", "asked", "words"),
    [
        ("Zusam\u00admen\u00adarbeit", "zusammenarbeit", ["zusammenarbeit"]),
        ("Long\u200bword\u200bbreaks", "longwordbreaks", ["longwordbreaks"]),
        ("\u202bab\u2060c\u202c", "abc", ["abc"]),
        ("مَرْحَبًا", "مرحبا", ["مرحبا"]),
        ("مـــرحبا", "مرحبا", ["مرحبا"]),
        ("کیک", "كيك", ["كيك"]),
        ("שָׁלוֹם", "שלום", ["שלום"]),
        ("İSTANBUL ISPARTA ılıca", "istanbul ısparta ilica", ["istanbul", "isparta", "ilica"]),
        ("नमस्ते दुनिया", "नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("क़लम", "कलम", ["कलम"]),
        ("தமிழ்", "தமிழ்", ["தமிழ்"]),
        ("ที่นี่", "ที่นี่", ["ที่", "นี่"]),
        ("ක්\u200dරියා", "ක්රියා", ["ක්රියා"]),
        ("パパ ハ", "ハ\u309aパ ハ", ["パ", "パ", "ハ"]),
    ],
)
def test_a_word_is_found_as_its_reader_sees_it(text: str, asked: str, words: list[str]) -> None:
    assert cut(text, "en").folded == words
    assert [word.folded for word in query_words(asked)] == words
    assert [word for _, _, word in word_positions(text)] == words
    assert [(begin, word) for begin, _, word in words_beginning(text, words)] == [
        (begin, word) for begin, _, word in word_positions(text)
    ]


def test_words_with_other_vowel_signs_are_other_words() -> None:
    assert cut("दिन", "hi").folded != cut("दौन", "hi").folded


def test_what_a_non_joiner_holds_together_is_found_whole_and_in_parts() -> None:
    assert cut("می\u200cخواهم", "fa").folded == ["ميخواهم", "مي", "خواهم"]
    assert [word.folded for word in query_words("می\u200cخواهم")] == ["ميخواهم"]


def test_characters_without_letters_are_passed_over_in_one_go() -> None:
    run = "\u200b\u0301" * 2_000

    assert list(words_beginning(f"{run} kettle{run}", ["kett"])) == [(4_001, 8_007, "kettle")]
    assert cut(run, "en").folded == []
