"""Search on SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proofroom.core.database.compiled_queries import BoundUpdate
from proofroom.core.search.entries import WEIGHTS, SearchTable, SearchText
from proofroom.core.search.query import Part, SearchedWords, SearchQuery, Way, fetch_pair
from proofroom.core.search.words import WORD_RULES, Word, cut


class SqliteSearch:
    """An FTS5 table beside the entries, ranked by bm25, without stemming. The text is already split into words."""

    @staticmethod
    def puts(table: SearchTable, entries: Iterable[SearchText]) -> list[BoundUpdate]:
        rows, words = [], []
        for entry in entries:
            key = entry.key.hex
            sql = (
                f'INSERT INTO "{table.name}" ("{table.key}", word_rules) '  # noqa: S608  # only our own names
                f"VALUES (%s, {WORD_RULES}) "
                f'ON CONFLICT ("{table.key}") DO UPDATE SET word_rules = {WORD_RULES}'
            )
            rows.append(BoundUpdate(sql, [key]))
            texts = (cut(text, entry.locale).folded for text in entry.texts)
            sql = (
                f'INSERT OR REPLACE INTO "{table.name}_words" (rowid, a, b, c, d) '  # noqa: S608
                f'SELECT id, %s, %s, %s, %s FROM "{table.name}" WHERE "{table.key}" = %s'
            )
            words.append(BoundUpdate(sql, [*(" ".join(text) for text in texts), key]))
        # Rows first: the words are inserted under the rows' ids.
        return rows + words

    @staticmethod
    def question(
        question: SearchedWords, row_key: str, part: Part = Part.ALL, way: Way = Way.INDEX
    ) -> SearchQuery:
        """Return the SQL for every word, the last one as a prefix."""
        table, name = question.table, f"{question.table.name}_words"
        every = SqliteSearch._words(question)
        expressions = {
            Part.ALL: every,
            Part.TITLES: f"a : ({every})",
            Part.OTHERS: f"({every}) NOT (a : ({every}))",
        }
        return SearchQuery(
            where=f'"{name}".rowid = "{table.name}".id AND "{name}" MATCH %s '
            f'AND "{table.name}"."{table.key}" = {row_key}',
            rank=f'-bm25("{name}", {", ".join(map(str, WEIGHTS))})',
            tables=[table.name, name],
            parameters=[expressions[part]],
        )

    @staticmethod
    def count_entries(question: SearchedWords, limit: int) -> tuple[int, int]:
        """Return the number of entries with every word, and of those with all in the title; each at most `limit`."""
        name, every = f"{question.table.name}_words", SqliteSearch._words(question)
        count = (
            f'(SELECT count(*) FROM (SELECT 1 FROM "{name}" WHERE "{name}" MATCH %s LIMIT {limit}))'  # noqa: S608
        )
        return fetch_pair(f"SELECT {count}, {count}", [every, f"a : ({every})"])

    @staticmethod
    def holds(table: SearchTable, words: Sequence[Word]) -> SearchQuery:
        """Return the SQL for every word in full and in no other form."""
        name = f"{table.name}_words"
        every = " AND ".join(f'"{word.folded}"' for word in words)
        return SearchQuery(
            where=f'"{table.name}".id IN (SELECT rowid FROM "{name}" WHERE "{name}" MATCH %s)',  # noqa: S608
            rank="",
            parameters=[every],
        )

    @staticmethod
    def _words(question: SearchedWords) -> str:
        wanted = []
        for place, word in enumerate(question.words):
            end = "*" if place == len(question.words) - 1 else ""
            forms = " OR ".join(f'"{form}"{end}' for form in (word.folded, *word.others))
            wanted.append(f"({forms})" if word.others else forms)
        return " AND ".join(wanted)
