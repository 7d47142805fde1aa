"""Readability scores, in the languages with a formula."""

from __future__ import annotations

import pytest

from content.comparison.words.reading_level import count_sentences, count_syllables, reading_ease

EASY = {
    "en": "The cat sat on the mat. It was hot. The dog ran to the cat. They sat in the sun. ",
    "de": "Der Hund ist da. Er ist alt. Die Frau geht in das Haus. Sie trinkt dort Tee. ",
    "fr": "Le chat dort. Il est sur le lit. La fille va au bois. Elle a un sac bleu. ",
    "es": "El sol sale. La casa es de Ana. El pan es bueno. Yo voy al mar con mi tren. ",
}
HARD = {
    "en": "Considerable institutional responsibilities necessitate comprehensive organisational transformation, "
    "notwithstanding administrative complications. ",
    "de": "Datenschutzrechtliche Verantwortlichkeiten erfordern umfassende organisatorische Veränderungen, "
    "ungeachtet verwaltungstechnischer Schwierigkeiten. ",
    "fr": "Les responsabilités institutionnelles considérables nécessitent une transformation organisationnelle "
    "approfondie, indépendamment des complications administratives. ",
    "es": "Las responsabilidades institucionales considerables requieren una transformación organizativa "
    "exhaustiva, independientemente de complicaciones administrativas. ",
}


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_easy_text_reads_more_easily_than_a_hard_one(language: str) -> None:
    easy, hard = (reading_ease(text[language] * 6, language) for text in (EASY, HARD))

    assert easy is not None
    assert hard is not None
    assert easy > 70
    assert hard < 20


def test_formula_of_english_is_that_of_flesch() -> None:
    text = "One two four five six eight nine ten. " * 6  # 48 words, 6 sentences, 48 syllables

    assert reading_ease(text, "en-GB") == round(206.835 - 1.015 * 8 - 84.6, 1)


def test_short_text_and_other_languages_have_none() -> None:
    assert reading_ease(EASY["en"], "en") is None
    assert reading_ease(EASY["en"] * 6, "it") is None
    assert reading_ease("", "de") is None


@pytest.mark.parametrize(
    ("language", "word", "count"),
    [
        ("en", "cat", 1), ("en", "table", 2), ("en", "baked", 1), ("en", "wanted", 2), ("en", "the", 1),
        ("en", "coffee", 2), ("de", "Kaffee", 2), ("de", "Häuser", 2), ("de", "Veränderung", 4), ("fr", "table", 1),
        ("fr", "café", 2), ("es", "casa", 2), ("es", "país", 2), ("es", "bueno", 2), ("es", "teatro", 3),
        ("en", "hmm", 1),
    ],
)  # fmt: skip
def test_syllables_are_counted(language: str, word: str, count: int) -> None:
    assert count_syllables(word, language) == count


def test_abbreviation_ends_no_sentence() -> None:
    assert count_sentences("Use approx. 20 g, e.g. of ours. Then wait! Ready?", "en") == 3
    assert count_sentences("Nimm ca. 20 g, z.B. von Dr. Bohne.", "de") == 1
    assert count_sentences("A title\nA line\n\n", "en") == 2
