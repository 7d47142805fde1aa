"""Full-text search: one way to put texts in and to ask for them, over PostgreSQL and SQLite.

All words of a question must be there, the last one at least as a beginning; accents and case do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Model, QuerySet

RANK: Final = "search_rank"
"""What the rows of `matching` can be ordered by; the best is the greatest."""
WEIGHTS: Final = (1_000_000, 10_000, 100, 1)
"""What a word counts in each of the four texts of an entry: once in the first beats a thousand times below."""


@dataclass(frozen=True, slots=True)
class SearchTable:
    """A table with an entry for each thing that can be found: `key` is the column of the thing's id.

    On PostgreSQL it has a column `document`; on SQLite the words stand in `<name>_words`, by the entry's id.
    """

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class SearchText:
    """A thing that can be found, with its four texts, the weightiest first."""

    key: UUID
    locale: str
    texts: tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """SQL that holds for an entry of `tables` if it has every word, and how well it fits: more is better."""

    tables: Sequence[str]
    where: str
    rank: str
    parameters: Sequence[str] = ()
    rank_parameters: Sequence[str] = ()


MAX_INDEXED_BYTES: Final = 150_000
MAX_INDEXED_WORDS: Final = 30_000
"""Of one text. PostgreSQL refuses a document beyond 1 MB, and keeps each word in several forms."""
MAX_INDEXED_CHARACTERS: Final = 500_000
MAX_WORD_LENGTH: Final = 64
MAX_QUERY_WORDS: Final = 20

# Scripts that put no space between words: each of their letters counts as one.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
_MARKS: Final = re.compile("[\u0300-\u036f]+")
# Letters with strokes and joined letters, which Unicode does not take apart.
_STROKES: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i"}
)
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


@dataclass(frozen=True, slots=True)
class Word:
    """`folded` has neither case nor accents; `spelled` has its accents."""

    folded: str
    spelled: str


@dataclass(slots=True)
class Words:
    """A text to keep: all words folded, and beside them as they are spelled where they have accents."""

    folded: list[str] = field(default_factory=list)
    accented: list[str] = field(default_factory=list)


def cut(text: str, locale: str) -> Words:
    """The words of a text, up to the bounds above. German umlauts can be asked for as two letters too."""
    found = Words()
    size = 0
    is_german = locale.partition("-")[0] == "de"
    for word in _words(text[:MAX_INDEXED_CHARACTERS])[:MAX_INDEXED_WORDS]:
        forms = [word.folded]
        if word.spelled != word.folded:
            found.accented.append(word.spelled)
            two_letters = word.spelled.translate(_UMLAUTS).replace("ß", "ss")
            if is_german and two_letters not in (word.folded, word.spelled):
                forms.append(two_letters)
        found.folded += forms
        size += sum(len(form.encode()) for form in (*forms, word.spelled))
        if size > MAX_INDEXED_BYTES:
            break
    return found


def query_words(text: str) -> list[Word]:
    """The words of a question; operators and quotes are none."""
    return _words(text[: MAX_WORD_LENGTH * MAX_QUERY_WORDS])[:MAX_QUERY_WORDS]


def _words(text: str) -> list[Word]:
    # What remains of marks after composing belongs to no letter of its own.
    plain = _MARKS.sub("", unicodedata.normalize("NFKC", text.lower()))
    found = []
    for match in _WORD.findall(plain):
        spelled = match[:MAX_WORD_LENGTH]
        found.append(Word(spelled if spelled.isascii() else _folded(spelled), spelled))
    return found


def _folded(word: str) -> str:
    apart = unicodedata.normalize("NFKD", word.casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", apart).translate(_STROKES))


def word_positions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where the words of a text begin and end, and each of them folded."""
    for found in _WORD.finditer(text):
        word = found.group().lower()
        yield found.start(), found.end(), word if word.isascii() else _folded(word)


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


def language_of(locale: str) -> str:
    """Return the text search configuration of PostgreSQL for a language."""
    return LANGUAGES.get(locale.partition("-")[0], _SIMPLE)


class PostgresqlSearch:
    """A `tsvector` with a GIN index, stemmed in the language of the text."""

    @staticmethod
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

    @staticmethod
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


class SqliteSearch:
    """An FTS5 table beside the entries, ranked by bm25. It knows no stems."""

    @staticmethod
    def put(table: SearchTable, entries: Iterable[SearchText]) -> None:
        rows = []
        for entry in entries:
            texts = (cut(text, entry.locale).folded for text in entry.texts)
            rows.append((*(" ".join(words) for words in texts), entry.key.hex))
        with connection.cursor() as cursor:
            cursor.executemany(
                f'INSERT INTO "{table.name}" ("{table.key}") VALUES (%s) '  # noqa: S608  # names of ours
                f'ON CONFLICT ("{table.key}") DO NOTHING',
                [row[-1:] for row in rows],
            )
            cursor.executemany(
                f'INSERT OR REPLACE INTO "{table.name}_words" (rowid, a, b, c, d) '  # noqa: S608
                f'SELECT id, %s, %s, %s, %s FROM "{table.name}" WHERE "{table.key}" = %s',
                rows,
            )

    @staticmethod
    def question(table: SearchTable, words: Sequence[Word], locales: Iterable[str]) -> SearchQuery:
        """Every word; the last one may be the beginning of a word."""
        name = f"{table.name}_words"
        return SearchQuery(
            tables=[table.name, name],
            where=f'"{name}".rowid = "{table.name}".id AND "{name}" MATCH %s',
            rank=f'-bm25("{name}", {", ".join(map(str, WEIGHTS))})',
            parameters=[" AND ".join(f'"{word.folded}"' for word in words) + "*"],
        )


M = TypeVar("M", bound=Model)
_NOTHING: Final = SearchQuery(tables=(), where="1 = 0", rank="(SELECT 0)")


def put(table: SearchTable, entries: Iterable[SearchText]) -> None:
    """Keep the words of things, in place of what was kept of them. In the transaction of their change."""
    _backend().put(table, entries)


def matching(
    rows: QuerySet[M], table: SearchTable, text: str, *, locales: Iterable[str]
) -> QuerySet[M]:
    """The rows whose entry has all words of the text; none for a text without words.

    `locales` are those of the rows: their languages say what forms a word has.
    """
    words = query_words(text)
    found = _backend().question(table, words, locales) if words else _NOTHING
    model = rows.model._meta
    joined = f'"{table.name}"."{table.key}" = "{model.db_table}"."{model.pk.column}"'
    # The ORM has no way to join a table that ranks: names are ours, words are parameters.
    return rows.extra(  # noqa: S610
        tables=list(found.tables),
        where=[found.where, *([joined] if found.tables else [])],
        params=list(found.parameters),
        select={RANK: found.rank},
        select_params=list(found.rank_parameters),
    )


def _backend() -> type[PostgresqlSearch | SqliteSearch]:
    return PostgresqlSearch if connection.vendor == "postgresql" else SqliteSearch
