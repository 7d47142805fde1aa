"""The reading ease of a text by the formula of its language: 0 is hard, 100 is easy.

Sources: R. Flesch, "A new readability yardstick" (1948) for English; T. Amstad, "Wie verständlich sind unsere
Zeitungen?" (1978) for German; L. Kandel and A. Moles, "Application de l'indice de Flesch à la langue française"
(1958) for French; F. Szigriszt Pazos, "Sistemas predictivos de legibilidad" (1993), a correction of J. Fernández
Huerta, "Medidas sencillas de lecturabilidad" (1959), for Spanish. Syllables are counted by groups of vowels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from content.comparison.words.word_tables import word_table

_LEAST_WORDS: Final = 40
"""Minimum number of words. In a shorter text a single long word changes the result."""
_MOST_CHARACTERS: Final = 200_000
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END: Final = re.compile(r"[.!?…。！？]+[\"'”’»)\]]*(?=\s|$)|\n+")
_LAST_WORD: Final = re.compile(r"\S{1,20}$")
Formula = Callable[[float, float], float]
"""A function that returns the reading ease from words per sentence and syllables per word."""
_FORMULAS: Final[Mapping[str, Formula]] = {
    "en": lambda words, syllables: 206.835 - 1.015 * words - 84.6 * syllables,
    "de": lambda words, syllables: 180 - words - 58.5 * syllables,
    "fr": lambda words, syllables: 207 - 1.015 * words - 73.6 * syllables,
    "es": lambda words, syllables: 206.835 - words - 62.3 * syllables,
}
_VOWELS: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(r"[aeiouy]+", re.IGNORECASE),
    "de": re.compile(r"äu|eu|au|ei|ai|ie|aa|ee|oo|ui|[aeiouyäöü]", re.IGNORECASE),
    "fr": re.compile(r"[aeiouyàâäéèêëîïôöùûüÿœæ]+", re.IGNORECASE),
    # Two strong vowels, or a weak vowel with an accent beside another, are two syllables.
    "es": re.compile(r"[iuüy]?[aeoáéó][iuy]?|[íú]|[iuü]+|y\b", re.IGNORECASE),
}
_SILENT: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(r"(?<![aeiouyl])es?$|[^aeiouydt]ed$|(?<=[aeiouy])le$", re.IGNORECASE),
    "fr": re.compile(r"(?<![aeiouyéèêàù])(?:es?|ent)$", re.IGNORECASE),
}
"""Silent endings."""


def reading_ease(text: str, language: str) -> float | None:
    """Return the reading ease of a text, None for a short text or a language without a formula."""
    tag = language[:2].lower()
    formula = _FORMULAS.get(tag)
    if formula is None:
        return None
    text = text[:_MOST_CHARACTERS]
    words = _WORD.findall(text)
    if len(words) < _LEAST_WORDS:
        return None
    syllables = sum(count_syllables(word, tag) for word in words)
    return round(formula(len(words) / count_sentences(text, tag), syllables / len(words)), 1)


def count_syllables(word: str, language: str) -> int:
    """Return the number of syllables of a word, at least 1."""
    count = len(_VOWELS[language].findall(word))
    silent = _SILENT.get(language)
    if count > 1 and silent is not None and silent.search(word):
        count -= 1
    return max(1, count)


def count_sentences(text: str, language: str) -> int:
    """Return the number of sentences, at least 1.

    A line ends a sentence, the full stop of an abbreviation does not.
    """
    abbreviations = word_table(language).abbreviations
    count, start = 0, 0
    for end in _SENTENCE_END.finditer(text):
        sentence = text[start : end.end()]
        last = _LAST_WORD.search(sentence.rstrip())
        if last is not None and last[0].lower() in abbreviations and "\n" not in end[0]:
            continue
        count += _WORD.search(sentence) is not None
        start = end.end()
    return max(1, count + (_WORD.search(text, start) is not None))
