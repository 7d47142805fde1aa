"""Search in PostgreSQL: a `tsvector` with a GIN index, stemmed in the language of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from django.db import connection

from proofroom.core.search.tables import WEIGHTS, SearchQuery, SearchTable, SearchText
from proofroom.core.search.tokens import Word, cut

_SIMPLE: Final = "simple"
LANGUAGES: Final = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""The text search configuration of a language; for any other, words are kept as they are."""

_CLASSES: Final = "ABCD"
_RANKS: Final = ", ".join(str(weight / WEIGHTS[0]) for weight in reversed(WEIGHTS))


def put(table: SearchTable, entries: Iterable[SearchText]) -> None:
    """Words are kept folded, as stems of the folded ones, and as stems of those with accents.

    Stems alone would lose stop words and the beginnings of words; folded words alone, every other form.
    """
    for entry in entries:
        language = language_of(entry.locale)
        parts, parameters = [], []
        for text, weight in zip(entry.texts, _CLASSES, strict=True):
            words = cut(text, entry.locale)
            parts.append(f"setweight(to_tsvector('{_SIMPLE}', %s), '{weight}')")
            parameters.append(" ".join(words.folded))
            if language != _SIMPLE:
                parts.append(f"setweight(to_tsvector('{language}', %s), '{weight}')")
                parameters.append(" ".join(words.folded + words.accented))
        with connection.cursor() as cursor:
            cursor.execute(
                f'INSERT INTO "{table.name}" ("{table.key}", document) '  # noqa: S608  # names of ours
                f"VALUES (%s, {' || '.join(parts)}) "
                f'ON CONFLICT ("{table.key}") DO UPDATE SET document = EXCLUDED.document',
                [entry.key, *parameters],
            )


def question(table: SearchTable, words: Sequence[Word], locales: Iterable[str]) -> SearchQuery:
    """Every word in one of its forms; the last one may be the beginning of a word."""
    languages = sorted({language_of(locale) for locale in locales} - {_SIMPLE})
    wanted, parameters = [], []
    for place, word in enumerate(words):
        is_last = place == len(words) - 1
        forms = [f"to_tsquery('{_SIMPLE}', %s)"]
        parameters.append(f"'{word.folded}'" + (":*" if is_last else ""))
        for language in languages:
            for spelling in dict.fromkeys((word.folded, word.spelled)):
                forms.append(f"to_tsquery('{language}', %s)")
                parameters.append(f"'{spelling}'")
        wanted.append(f"({' || '.join(forms)})")
    document = f'"{table.name}".document'
    # Ranked word by word, as bm25 does: how near they stand to one another costs all pairs of their places.
    return SearchQuery(
        tables=[table.name],
        where=f"{document} @@ ({' && '.join(wanted)})",
        rank=f"ts_rank('{{{_RANKS}}}', {document}, ({' || '.join(wanted)}))",
        parameters=parameters,
        rank_parameters=parameters,
    )


def language_of(locale: str) -> str:
    return LANGUAGES.get(locale.partition("-")[0], _SIMPLE)
