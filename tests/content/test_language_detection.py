"""Language detection: also of short titles, and none if unclear."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.comparison.words.language_detection import detect_language
from content.comparison.words.reading_level import count_sentences, count_syllables, reading_ease

WORDS = {
    "en": {"fresh", "filter", "coffee", "recipes", "roast"},
    "de": {"kaffee", "kochen", "leicht", "gemacht", "guten", "morgen", "liebe", "kunden"},
    "es": {"una", "taza", "perfecta", "niño"},
}


def is_listed(word: str, language: str) -> bool:
    return word in WORDS.get(language, ())


@pytest.mark.parametrize(
    ("text", "expected", "language"),
    [
        ("Wie man Filterkaffee kocht", "en", "de"),
        ("Wie man Filterkaffee kocht", "en-GB", "de"),
        ("How to brew filter coffee", "de", "en"),
        ("Cómo preparar café de filtro", "en", "es"),
        ("Comment faire du café", "de", "fr"),
        ("L’art d’un bon café pour tous", "en", "fr"),
        ("Come preparare il caffè", "en", "it"),
        ("Hoe zet je filterkoffie", "en", "nl"),
        ("Como fazer um bom café em casa e não errar", "en", "pt"),
        ("The kettle is hot and the cup is not.", "en", "en"),
        ("Read https://beispiel.example/der/die/und/das before you brew the coffee.", "en", "en"),
        ("Привет, мир", "en", "ru"),
        ("Привіт, як справи в Києві", "ru", "uk"),
        ("Здравей, свят", "bg", "bg"),
        ("Καλημέρα κόσμε", "en", "el"),
        ("コーヒーの淹れ方", "en", "ja"),
        ("如何冲泡咖啡", "en", "zh"),
        ("커피 내리는 법", "en", "ko"),
        ("วิธีชงกาแฟ", "en", "th"),
        ("कॉफी कैसे बनाएं", "en", "hi"),
        ("طريقة تحضير القهوة", "en", "ar"),
        ("طرز تهیه قهوه با چای", "en", "fa"),
        ("איך להכין קפה", "en", "he"),
    ],
)
def test_clear_language_is_found(text: str, expected: str, language: str) -> None:
    assert detect_language(text, expected) == language


@pytest.mark.parametrize(
    "text",
    [
        "", "Zeitgeist", "La Marzocco Linea Mini", "Café de Flore", "Die Hard", "Das Auto", "Chemex vs. Hario V60",
        "12,50 € / 3 kg", "npm install --save-dev typescript", "`der die das und oder`", "Rezepte", "α",
        "info@der-die-das.example", "(das.und) { die(); }",
    ],
)  # fmt: skip
def test_names_loan_words_numbers_and_code_say_nothing(text: str) -> None:
    assert detect_language(text, "en", is_listed) is None


@pytest.mark.parametrize(
    ("text", "expected", "language"),
    [
        ("Kaffee kochen leicht gemacht", "en", "de"),
        ("Guten Morgen, liebe Kunden", "en", "de"),
        ("Filter coffee recipes", "de", "en"),
        ("Fresh filter coffee", "en", "en"),
    ],
)
def test_word_lists_decide_where_function_words_say_too_little(
    text: str, expected: str, language: str
) -> None:
    assert detect_language(text, expected) is None
    assert detect_language(text, expected, is_listed) == language


def test_word_lists_are_not_read_without_need() -> None:
    def read(word: str, language: str) -> bool:
        raise AssertionError(f"{word} was looked up")

    assert detect_language("Wie man Filterkaffee kocht", "en", read) == "de"
    assert detect_language("The kettle is hot.", "en", read) == "en"
    assert detect_language("Привет, мир", "en", read) == "ru"
    assert detect_language("Two words", "en", read) is None


@given(st.text(max_size=400), st.sampled_from(["en", "de", "", "zh-Hant"]))
@settings(max_examples=80, deadline=None)
def test_any_text_gives_a_code_or_nothing(text: str, expected: str) -> None:
    found = detect_language(text, expected, is_listed)

    assert found is None or (found and found.isalpha())


@pytest.mark.parametrize(
    "unit", ["a", "`", "<", "a.", "a@", "</a", "http://", "l'", "й", "a=", "der "]
)
def test_hostile_text_takes_no_longer_than_its_length(unit: str) -> None:
    """A backtracking search would take hours."""
    detect_language(unit * 100_000, "en")


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


def test_english_uses_the_flesch_formula() -> None:
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
