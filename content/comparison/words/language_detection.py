"""Detection of the language of a text by its script, its function words and, if needed, word lists.

If unclear it returns no language, so that a name, loan word or code is not taken for another language.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from content.comparison.words.word_tables import WordTable, all_tables

Known = Callable[[str, str], bool]
"""A function that returns whether a word is in the list of a language."""
_MOST_CHARACTERS: Final = 20_000
"""Maximum number of characters to read. More would not change the result."""
_MOST_LOOKED_UP: Final = 60
_NO_WORDS: Final = re.compile(
    r"`[^`\n]{0,2000}`|(?<!\w)[a-z][a-z0-9+.-]{1,20}://\S{1,2000}|(?<![\w.@-])[\w.-]{1,64}@[\w.-]{1,200}"
    r"|(?<!\S)\S{0,200}[\w](?:[._/\\#=<>{}\[\]()]|::)[\w]\S{0,200}|(?<!\S)[@#$/\\<>{}]\S{0,200}|</?\w{1,40}[^<>]{0,500}>",
    re.IGNORECASE,
)
"""Code, addresses, file names and tags."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SCRIPTS: Final[Mapping[str, str]] = {
    "CYRILLIC": "ru", "GREEK": "el", "ARABIC": "ar", "HEBREW": "he", "CJK": "zh", "HIRAGANA": "ja", "KATAKANA": "ja",
    "HANGUL": "ko", "THAI": "th", "DEVANAGARI": "hi", "BENGALI": "bn", "TAMIL": "ta", "TELUGU": "te",
    "GUJARATI": "gu", "GURMUKHI": "pa", "KANNADA": "kn", "MALAYALAM": "ml", "SINHALA": "si", "ARMENIAN": "hy",
    "GEORGIAN": "ka", "KHMER": "km", "LAO": "lo", "MYANMAR": "my", "ETHIOPIC": "am",
}  # fmt: skip
"""Most common language of a script."""
_LANGUAGES_OF_SCRIPT: Final[Mapping[str, frozenset[str]]] = {
    "CYRILLIC": frozenset({"ru", "uk", "be", "bg", "mk", "sr", "kk", "ky", "mn", "tg"}),
    "ARABIC": frozenset({"ar", "fa", "ur", "ps", "ku", "ckb", "ug"}),
    "HEBREW": frozenset({"he", "yi"}),
    "CJK": frozenset({"zh", "ja", "yue", "ko"}),
    "DEVANAGARI": frozenset({"hi", "mr", "ne", "sa"}),
    "ETHIOPIC": frozenset({"am", "ti"}),
    "BENGALI": frozenset({"bn", "as"}),
}
"""Languages of a script. If the page's language is among them, the text counts as that language."""
_OWN_LETTERS: Final[tuple[tuple[str, str, frozenset[str]], ...]] = (
    ("CYRILLIC", "uk", frozenset("іїєґ")),
    ("CYRILLIC", "be", frozenset("ў")),
    ("CYRILLIC", "sr", frozenset("ђћџ")),
    ("CYRILLIC", "mk", frozenset("ѓќѕ")),
    ("ARABIC", "ur", frozenset("ٹڈڑےں")),
    ("ARABIC", "fa", frozenset("پچژگ")),
)
"""Letters that only one language of a script has, the most certain first."""
_LATIN_LETTERS: Final[Mapping[str, frozenset[str]]] = {
    "de": frozenset("äöüß"),
    "fr": frozenset("àâçèéêëîïôùûœ"),
    "es": frozenset("áéíñóú¿¡"),
    "pt": frozenset("ãõçáâéêíóú"),
    "it": frozenset("àèéìòù"),
    "en": frozenset(),
    "nl": frozenset("ëï"),
}
_ACCENTED: Final = 0.5
"""Additional score of a function word with a letter that other languages lack."""
_MIN_CLEAR_SCORE: Final = 1.5
"""Minimum score for a clear result.

A function word of one language scores 1, one of several is divided among them.
"""
_LEAST_SHARE: Final = 0.13
_LISTED_SHARE: Final = 0.7
_FOREIGN_SHARE: Final = 0.4
_LEAST_LISTED: Final = 3


def detect_language(text: str, expected: str, known: Known | None = None) -> str | None:
    """Return the code of the language of a text, or None if unclear.

    `expected`: language of the page. `known`: looks up a word in the list of a language, only called if script and
    function words are not enough.
    """
    expected = expected.replace("_", "-").partition("-")[0].lower()
    text = _NO_WORDS.sub(" ", text[:_MOST_CHARACTERS])
    if (found := _detect_by_script(text, expected)) is not None:
        return found or None
    words = _WORD.findall(text)
    if len(words) < 2:
        return None
    tables = {
        language: table for language, table in all_tables().tables.items() if table.function_words
    }
    scores = _scores([word.replace("’", "'") for word in words], tables)
    found = _clear_winner(scores, len(words), expected)
    if found is not None or known is None:
        return found
    return _detect_by_word_lists(words, expected, scores, known)


def _detect_by_script(text: str, expected: str) -> str | None:
    """Return the language by the script of most letters: empty if scripts are mixed, None for Latin."""
    letters = [char for char in text if char.isalpha()]
    if len(letters) < 2:
        return ""
    counts = Counter(_script_of(char) for char in letters)
    if counts["LATIN"] * 2 > len(letters) or not counts:
        return None
    # Japanese mixes kana with CJK characters, Chinese has no kana.
    kana = counts["HIRAGANA"] + counts["KATAKANA"]
    if kana and kana * 10 >= counts["CJK"]:
        return "ja" if (kana + counts["CJK"]) * 2 > len(letters) else ""
    script, count = counts.most_common(1)[0]
    language = _SCRIPTS.get(script)
    if language is None or count * 2 <= len(letters):
        return ""
    there = set(text.lower())
    for own_script, own_language, own in _OWN_LETTERS:
        if own_script == script and own & there:
            return own_language
    return expected if expected in _LANGUAGES_OF_SCRIPT.get(script, ()) else language


def _script_of(char: str) -> str:
    return "LATIN" if char.isascii() else unicodedata.name(char, "").partition(" ")[0]


def _scores(words: Sequence[str], tables: Mapping[str, WordTable]) -> dict[str, float]:
    """Return the score of each language. A function word of two languages counts half for each."""
    scores: dict[str, float] = {}
    for word in words:
        whole = word.lower()
        hits = [
            language
            for language, table in tables.items()
            if whole in table.function_words or _is_elided(whole, table)
        ]
        # An abbreviation such as IN or OR.
        if not hits or (word.isupper() and len(word) > 1 and not all(map(str.isupper, words))):
            continue
        accented = 0.0 if whole.isascii() else _ACCENTED
        for language in hits:
            scores[language] = scores.get(language, 0.0) + (1 + accented) / len(hits)
    return scores


def _is_elided(word: str, table: WordTable) -> bool:
    head, mark, rest = word.partition("'")
    return bool(mark) and len(rest) > 1 and head in table.elisions


def _clear_winner(scores: Mapping[str, float], count: int, expected: str) -> str | None:
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    if not ranked:
        return None
    (best, most), second = ranked[0], ranked[1][1] if len(ranked) > 1 else 0.0
    # The page's language needs less evidence than another.
    if best == expected and most >= 1 and most >= second:
        return best
    is_clear = most >= _MIN_CLEAR_SCORE and most >= 2 * second and most >= _LEAST_SHARE * count
    return best if is_clear else None


def _detect_by_word_lists(
    words: Iterable[str], expected: str, scores: Mapping[str, float], known: Known
) -> str | None:
    """Return the language whose list has most words, if the list of the page's language has few of them."""
    sample = list(dict.fromkeys(word.lower() for word in words if len(word) > 2))[:_MOST_LOOKED_UP]
    if len(sample) < _LEAST_LISTED:
        return None

    def share(language: str) -> float:
        return sum(known(word, language) for word in sample) / len(sample)

    of_page = share(expected)
    if of_page >= _LISTED_SHARE:
        return expected
    if of_page > _FOREIGN_SHARE:
        return None
    for language in _candidates(sample, expected, scores):
        if (listed := share(language)) >= _LISTED_SHARE and listed >= 2 * of_page:
            return language
    return None


def _candidates(words: Collection[str], expected: str, scores: Mapping[str, float]) -> list[str]:
    """Return the most likely languages by score and letters."""
    letters = {char for word in words for char in word if not char.isascii()}
    worth = {
        language: scores.get(language, 0.0) + len(letters & own)
        for language, own in _LATIN_LETTERS.items()
        if language != expected
    }
    # At most two, because each word list takes memory.
    ranked = sorted(worth, key=lambda language: -worth[language])
    return [language for language in ranked if worth[language]][:2] or ["en", "de"][
        : 1 + (expected == "en")
    ]
