"""Full-text search: one way to put texts in and to ask for them, over PostgreSQL and SQLite.

All words of a question must be there, the last one at least as a beginning; accents and case do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import F, Model, OrderBy, QuerySet, Window
from django.db.models.functions import RowNumber

RANK: Final = "search_rank"
"""What the rows of `matching` can be ordered by; the best is the greatest."""
WEIGHTS: Final = (1_000_000, 10_000, 100, 1)
"""What a word counts in each of the four texts of an entry: once in the first beats a thousand times below."""


@dataclass(frozen=True, slots=True)
class SearchTable:
    """A table with an entry for each thing that can be found: `key` is the column of the thing's id.

    On PostgreSQL it has a column `document`, and for `Found` a column `title` with the words of the first text; on
    SQLite the words stand in `<name>_words`, by the entry's id.
    """

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class SearchText:
    """A thing that can be found, with its four texts, the weightiest first."""

    key: UUID
    locale: str
    texts: tuple[str, str, str, str]


class Part(Enum):
    """Which entries are meant of those that have every word."""

    ALL = auto()
    TITLES = auto()
    OTHERS = auto()


class Way(Enum):
    """How PostgreSQL compares entries with the words. SQLite has one way only."""

    INDEX = auto()
    """The index finds the entries, then each has its row read: for words that few entries have."""
    SET = auto()
    """The index finds the entries, then rows are looked up among them, in the order that is asked for."""
    EACH = auto()
    """Rows are read in their order, and each is compared, until enough fit: for words that most entries have."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """SQL that holds for a row if its entry has every word, and how well it fits: more is better.

    `tables` are joined to the rows; the condition of the join is part of `where`.
    """

    where: str
    rank: str
    tables: Sequence[str] = ()
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
_LETTER: Final = re.compile(f"[^\\W_{_UNSPACED}]")
_FOREIGN_LETTER: Final = re.compile("[^\\W\x00-\x7f]")
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


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: words, the last one at least as a beginning, in the languages of these locales."""

    table: SearchTable
    words: Sequence[Word]
    locales: Sequence[str]


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


def words_beginning(text: str, beginnings: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield of the words of a text, as `word_positions` does, those that may begin like one of `beginnings`.

    These are folded. Most words of a text are passed over without a look at them.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter became two: places of one are not those of the other
        yield from word_positions(text)
        return
    begins = {found.start() for found in _FOREIGN_LETTER.finditer(text)}
    for beginning in beginnings:
        place = lowered.find(beginning) if beginning else -1
        while place >= 0:
            begins.add(place)
            place = lowered.find(beginning, place + 1)
    done = 0
    for begin in sorted(begins):
        if begin < done:
            continue
        while begin > done and _LETTER.match(text, begin) and _LETTER.match(text, begin - 1):
            begin -= 1
        found = _WORD.match(text, begin)
        if found:
            done = found.end()
            word = found.group().lower()
            yield begin, done, word if word.isascii() else _folded(word)


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
    def question(
        question: Question, row_key: str, part: Part = Part.ALL, way: Way = Way.INDEX
    ) -> SearchQuery:
        """Every word in one of its forms; the last one may be the beginning of a word.

        The planner learns neither the words nor how many entries they find: it would compare all entries for a
        common word, without counting what it costs to fetch documents of some kilobytes.
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
            where = f"(SELECT {where} FROM {entry} WHERE {of_row})"  # noqa: S608  # names of ours, here and below
        else:
            keys = f'SELECT {entry}."{question.table.key}" FROM {entry} WHERE {where}'  # noqa: S608
            # Inside a function, IN stays a set to look into and is not made a join.
            is_in = f"COALESCE({row_key} IN ({keys}), FALSE)"
            where = f"{row_key} = ANY(ARRAY({keys}))" if way is Way.INDEX else is_in
        # Ranked word by word, as bm25 does: how near they stand to one another costs all pairs of their places.
        rank = f"ts_rank('{{{_RANKS}}}', {entry}.document, {any_})"
        return SearchQuery(
            where=where,
            rank=f"(SELECT {rank} FROM {entry} WHERE {of_row})",  # noqa: S608
            parameters=parameters * (2 if part is Part.OTHERS else 1),
            rank_parameters=parameters,
        )

    @staticmethod
    def count_entries(question: Question, limit: int) -> tuple[int, int]:
        """Return how many entries have every word, and how many in their title; at most `limit`."""
        every, _, parameters = PostgresqlSearch._words(question)
        counts = (
            f'(SELECT count(*) FROM (SELECT FROM "{question.table.name}" '  # noqa: S608
            f"WHERE {column} @@ {every} LIMIT {limit}) AS entries)"
            for column in ("document", "title")
        )
        return _two_numbers(f"SELECT {', '.join(counts)}", parameters * 2)

    @staticmethod
    def _words(question: Question) -> tuple[str, str, list[str]]:
        """Return subqueries for every word and for any of them, and the parameters of either."""
        languages = sorted({language_of(locale) for locale in question.locales} - {_SIMPLE})
        wanted, parameters = [], []
        for place, word in enumerate(question.words):
            is_last = place == len(question.words) - 1
            forms = [f"to_tsquery('{_SIMPLE}', %s)"]
            parameters.append(f"'{word.folded}'" + (":*" if is_last else ""))
            for language in languages:
                for spelling in dict.fromkeys((word.folded, word.spelled)):
                    forms.append(f"to_tsquery('{language}', %s)")
                    parameters.append(f"'{spelling}'")
            wanted.append(f"({' || '.join(forms)})")
        return f"(SELECT {' && '.join(wanted)})", f"(SELECT {' || '.join(wanted)})", parameters


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
    def question(
        question: Question, row_key: str, part: Part = Part.ALL, way: Way = Way.INDEX
    ) -> SearchQuery:
        """Every word; the last one may be the beginning of a word."""
        table, name = question.table, f"{question.table.name}_words"
        every = SqliteSearch._words(question)
        sought = {
            Part.ALL: every,
            Part.TITLES: f"a : ({every})",
            Part.OTHERS: f"({every}) NOT (a : ({every}))",
        }
        return SearchQuery(
            where=f'"{name}".rowid = "{table.name}".id AND "{name}" MATCH %s '
            f'AND "{table.name}"."{table.key}" = {row_key}',
            rank=f'-bm25("{name}", {", ".join(map(str, WEIGHTS))})',
            tables=[table.name, name],
            parameters=[sought[part]],
        )

    @staticmethod
    def count_entries(question: Question, limit: int) -> tuple[int, int]:
        """Return how many entries have every word, and how many in their title; at most `limit`."""
        name, every = f"{question.table.name}_words", SqliteSearch._words(question)
        count = (
            f'(SELECT count(*) FROM (SELECT 1 FROM "{name}" WHERE "{name}" MATCH %s LIMIT {limit}))'  # noqa: S608
        )
        return _two_numbers(f"SELECT {count}, {count}", [every, f"a : ({every})"])

    @staticmethod
    def _words(question: Question) -> str:
        return " AND ".join(f'"{word.folded}"' for word in question.words) + "*"


def _two_numbers(sql: str, parameters: Sequence[str]) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        first, second = cursor.fetchone()
        return first, second


M = TypeVar("M", bound=Model)


def put(table: SearchTable, entries: Iterable[SearchText]) -> None:
    """Keep the words of things, in place of what was kept of them. In the transaction of their change."""
    _backend().put(table, entries)


def matching(
    rows: QuerySet[M], table: SearchTable, text: str, *, locales: Iterable[str]
) -> QuerySet[M]:
    """The rows whose entry has all words of the text, with their rank; none for a text without words.

    `locales` are those of the rows: their languages say what forms a word has.
    """
    return _matching(rows, Question(table, query_words(text), tuple(locales)))


def _matching(
    rows: QuerySet[M], question: Question, part: Part = Part.ALL, way: Way = Way.INDEX
) -> QuerySet[M]:
    model = rows.model._meta
    found = SearchQuery(where="1 = 0", rank="(SELECT 0)")
    if question.words:
        row_key = f'"{model.db_table}"."{model.pk.column}"'
        found = _backend().question(question, row_key, part, way)
    # The ORM has no way to join a table that ranks: names are ours, words are parameters.
    return rows.extra(  # noqa: S610
        tables=list(found.tables),
        where=[found.where],
        params=list(found.parameters),
        select={RANK: found.rank},
        select_params=list(found.rank_parameters),
    )


MAX_RANKED: Final = 1_000
"""Entries with the words up to which each of them is ranked, which costs some 10 µs: their whole texts are read."""
MAX_OF_MANY: Final = 200
"""Rows that are ranked where there are more, the newest ones."""
MAX_IN_SET: Final = 10_000
"""Entries up to which finding all of them is cheaper than comparing rows until enough fit."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows were found; an estimate where they are many and counting them takes long."""

    number: int
    is_exact: bool


class Found(Generic[M]):
    """What a search finds among rows, the best first; counted and sliced as a queryset is.

    Where few entries have the words, all rows are ranked. Else those with all words in their title come first, then
    the others; of both, the newest `MAX_OF_MANY` are in the order of their rank, and those behind them are by age.

    `newest` is the order by age, which ends with the key. `shown` makes of rows what slices have; where that is
    `values()`, the key is among them as `id`.
    """

    def __init__(
        self,
        rows: QuerySet[M],
        question: Question,
        newest: Sequence[str],
        shown: Callable[[QuerySet[M]], QuerySet[Any, Any]] = lambda rows: rows,
    ) -> None:
        self._rows = rows
        self._question = question
        self._newest = newest
        self._shown = shown

    def filter(self, **conditions: Any) -> Found[M]:
        """Those of them that also fit these conditions."""
        return Found(self._rows.filter(**conditions), self._question, self._newest, self._shown)

    def matching(self) -> QuerySet[M]:
        """All of them as a queryset, in the order of the rows."""
        way = Way.INDEX if self._are_few else Way.SET
        return _matching(self._rows, self._question, way=way)

    def ranked(self) -> QuerySet[M]:
        """All of them as a queryset in the order of their rank, which takes long where they are many."""
        return self.matching().order_by(f"-{RANK}", *self._newest)

    def count(self) -> int:
        """Return how many there are exactly. Takes the longer the more entries have the words."""
        return self.matching().order_by().count()

    def estimate(self, limit: int) -> Count:
        """Return how many there are, exactly up to `limit` and where that is cheap.

        Beyond, the share among the newest rows is taken for the share among all of them.
        """
        if connection.vendor != "postgresql" or _way_for(self._entries) is not Way.EACH:
            return Count(self.count(), is_exact=True)
        place = Window(RowNumber(), order_by=[_order(name) for name in self._newest])
        rows = self._rows.order_by().annotate(place=place).values("pk", "place")
        sql, parameters = rows.query.sql_with_params()
        fits = PostgresqlSearch.question(self._question, "seen.pk", way=Way.EACH)
        found, seen = _two_numbers(
            f"SELECT count(*), coalesce(max(place), 0) FROM (SELECT place FROM ({sql}) AS seen "  # noqa: S608
            f"WHERE {fits.where} LIMIT {limit + 1}) AS fitting",
            [*parameters, *fits.parameters],
        )
        if found <= limit:
            return Count(found, is_exact=True)
        plan = orjson.loads(self._rows.order_by().values("pk").explain(format="json"))
        everything = max(seen, int(plan[0]["Plan"]["Plan Rows"]))
        return Count(found * everything // seen, is_exact=False)

    def __getitem__(self, part: slice) -> list[Any]:
        begin, end = part.start or 0, part.stop
        wanted = end - begin
        if self._are_few:
            return list(self._shown(self.ranked())[begin:end])
        keys: list[UUID] = []
        for tier, entries in ((Part.TITLES, self._titles), (Part.OTHERS, self._entries)):
            if not entries:
                continue
            found = _matching(self._rows, self._question, tier, _way_for(entries))
            found = found.order_by(*self._newest)
            size = MAX_OF_MANY
            if begin < MAX_OF_MANY:
                newest = list(found.values_list("pk", RANK)[:MAX_OF_MANY])
                size = len(newest)
                # The sort is stable: of equals the newer one comes first.
                ranked = sorted(newest, key=lambda row: -row[1])
                keys += [key for key, _ in ranked[begin:end]]
            if size == MAX_OF_MANY and end > MAX_OF_MANY:
                keys += found.values_list("pk", flat=True)[max(begin, MAX_OF_MANY) : end]
            if len(keys) == wanted:
                break
            if tier is Part.TITLES:
                size = found.order_by().count() if size == MAX_OF_MANY else size
                begin, end = max(0, begin - size), end - size
        rows = {
            row["id"] if isinstance(row, Mapping) else row.pk: row
            for row in self._shown(self._rows.filter(pk__in=keys))
        }
        # One that was deleted in between is missing.
        return [rows[key] for key in keys if key in rows]

    @property
    def _are_few(self) -> bool:
        return self._entries <= MAX_RANKED

    @property
    def _entries(self) -> int:
        return self._counts[0]

    @property
    def _titles(self) -> int:
        return self._counts[1]

    @cached_property
    def _counts(self) -> tuple[int, int]:
        """Return how many entries have every word, whatever rows are asked for, and how many in their title."""
        if not self._question.words:
            return 0, 0
        return _backend().count_entries(self._question, MAX_IN_SET + 1)


def _way_for(entries: int) -> Way:
    if entries <= MAX_RANKED:
        return Way.INDEX
    return Way.SET if entries <= MAX_IN_SET else Way.EACH


def _order(name: str) -> OrderBy:
    return F(name.lstrip("-")).desc() if name.startswith("-") else F(name).asc()


def _backend() -> type[PostgresqlSearch | SqliteSearch]:
    return PostgresqlSearch if connection.vendor == "postgresql" else SqliteSearch
