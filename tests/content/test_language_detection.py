"""Language detection: also of short titles, and none if unclear."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.comparison.words.language_detection import detect_language

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
