"""Search on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from proofroom.core.database.compiled_queries import BoundUpdate
from proofroom.core.search.entries import WEIGHTS, SearchTable, SearchText
from proofroom.core.search.query import Part, SearchedWords, SearchQuery, Way, fetch_pair
from proofroom.core.search.words import WORD_RULES, Word, cut

_SIMPLE: Final = "simple"
LANGUAGES: Final = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Text search configurations by language. Words of other languages are not stemmed."""
_CLASSES: Final = "ABCD"
# `ts_rank` takes the weights in the order from D to A.
_RANKS: Final = ", ".join(str(weight / WEIGHTS[0]) for weight in reversed(WEIGHTS))


def language_of(locale: str) -> str:
    """Return PostgreSQL's text search configuration for a language."""
    return LANGUAGES.get(locale.partition("-")[0], _SIMPLE)


class PostgresqlSearch:
    """A `tsvector` with a GIN index, stemmed in the language of the text."""

    @staticmethod
    def puts(table: SearchTable, entries: Iterable[SearchText]) -> list[BoundUpdate]:
        """Return the statements that index words folded, as stems of the folded words, and as stems of the accented
        words.

        Stems alone would lose stop words and prefixes; folded words alone would lose all inflected forms.
        """
        bound = []
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
            sql = (
                f'INSERT INTO "{table.name}" ("{table.key}", word_rules, document) '  # noqa: S608  # only our own names
                f"VALUES (%s, {WORD_RULES}, {' || '.join(parts)}) "
                f'ON CONFLICT ("{table.key}") DO UPDATE '
                "SET word_rules = EXCLUDED.word_rules, document = EXCLUDED.document RETURNING 1"
            )
            bound.append(BoundUpdate(sql, [entry.key, *parameters]))
        return bound

    @staticmethod
    def question(
        question: SearchedWords, row_key: str, part: Part = Part.ALL, way: Way = Way.INDEX
    ) -> SearchQuery:
        """Return the SQL for each word in one of its forms, the last one also as a prefix.

        The words are in subqueries, so that the planner cannot estimate their number of matches. It would otherwise
        compare all entries for a common word, because it ignores the cost of reading documents of several kilobytes.
        """
        every, any_, parameters = PostgresqlSearch._words(question)
        entry = f'"{question.table.name}"'
        of_row = f'{entry}."{question.table.key}" = {row_key}'
        where = {
            Part.ALL: f"{entry}.document @@ {every}",
            Part.TITLES: f"{entry}.title @@ {every}",
            Part.OTHERS: f"{entry}.document @@ {every} AND NOT {entry}.title @@ {every}",
        }[part]
        if way is Way.EACH:
            where = f"(SELECT {where} FROM {entry} WHERE {of_row})"  # noqa: S608  # only our own names, here and below
        else:
            keys = f'SELECT {entry}."{question.table.key}" FROM {entry} WHERE {where}'  # noqa: S608
            # Inside a function, IN remains a hashed subplan instead of becoming a join.
            is_in = f"COALESCE({row_key} IN ({keys}), FALSE)"
            where = f"{row_key} = ANY(ARRAY({keys}))" if way is Way.INDEX else is_in
        # Ranked word by word, like bm25. Proximity ranking would compare all pairs of positions.
        rank = f"ts_rank('{{{_RANKS}}}', {entry}.document, {any_})"
        return SearchQuery(
            where=where,
            rank=f"(SELECT {rank} FROM {entry} WHERE {of_row})",  # noqa: S608
            parameters=parameters * (2 if part is Part.OTHERS else 1),
            rank_parameters=parameters,
        )

    @staticmethod
    def count_entries(question: SearchedWords, limit: int) -> tuple[int, int]:
        """Return the number of entries with every word, and of those with all in the title; each at most `limit`."""
        every, _, parameters = PostgresqlSearch._words(question)
        counts = (
            f'(SELECT count(*) FROM (SELECT FROM "{question.table.name}" '  # noqa: S608
            f"WHERE {column} @@ {every} LIMIT {limit}) AS entries)"
            for column in ("document", "title")
        )
        return fetch_pair(f"SELECT {', '.join(counts)}", parameters * 2)

    @staticmethod
    def holds(table: SearchTable, words: Sequence[Word]) -> SearchQuery:
        """Return the SQL for every word in full and in no other form."""
        every = " & ".join(f"'{word.folded}'" for word in words)
        return SearchQuery(
            where=f"\"{table.name}\".document @@ to_tsquery('{_SIMPLE}', %s)",
            rank="",
            parameters=[every],
        )

    @staticmethod
    def _words(question: SearchedWords) -> tuple[str, str, list[str]]:
        """Return subqueries for all words and for any of them, and the parameters of each."""
        languages = sorted({language_of(locale) for locale in question.locales} - {_SIMPLE})
        wanted, parameters = [], []
        for place, word in enumerate(question.words):
            is_last = place == len(question.words) - 1
            forms = [f"to_tsquery('{_SIMPLE}', %s)"]
            end = ":*" if is_last else ""
            parameters.append(" | ".join(f"'{form}'{end}" for form in (word.folded, *word.others)))
            for language in languages:
                for spelling in dict.fromkeys((word.folded, word.spelled)):
                    forms.append(f"to_tsquery('{language}', %s)")
                    parameters.append(f"'{spelling}'")
            wanted.append(f"({' || '.join(forms)})")
        return f"(SELECT {' && '.join(wanted)})", f"(SELECT {' || '.join(wanted)})", parameters
