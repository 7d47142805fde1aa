"""Full-text search: one way to put texts in and to ask for them, over PostgreSQL and SQLite.

All words of a question must be there, the last one at least as a beginning; accents and case do not count.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property, lru_cache
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import Count as RowCount
from django.db.models import F, Model, OrderBy, QuerySet, Window
from django.db.models.functions import RowNumber

from proofroom.core.database.replica import reading_connection
from proofroom.core.database.statements import Row, Statement, fetch

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
    """`folded` has neither case nor accents; `spelled` has its accents. Any of `others`, folded too, does as well."""

    folded: str
    spelled: str
    others: tuple[str, ...] = ()


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
    if lowered.isascii():
        pattern = _ascii_words(frozenset(filter(str.isascii, beginnings)))
        for hit in pattern.finditer(lowered) if pattern else ():
            place = hit.start()
            if not place or not lowered[place - 1].isalnum():
                yield place, hit.end(), hit.group()
        return
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


@lru_cache(maxsize=200)
def _ascii_words(beginnings: frozenset[str]) -> re.Pattern[str] | None:
    """What begins like that in a text of ASCII, inside of words too; None for nothing."""
    some = sorted(map(re.escape, filter(None, beginnings)))
    return re.compile(f"(?:{'|'.join(some)})[a-z0-9]*") if some else None


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
            sql = (
                f'INSERT INTO "{table.name}" ("{table.key}", document) '  # noqa: S608  # names of ours
                f"VALUES (%s, {' || '.join(parts)}) "
                f'ON CONFLICT ("{table.key}") DO UPDATE SET document = EXCLUDED.document RETURNING 1'
            )
            fetch(connection, sql, [entry.key, *parameters])

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
            end = ":*" if is_last else ""
            parameters.append(" | ".join(f"'{form}'{end}" for form in (word.folded, *word.others)))
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
        wanted = []
        for place, word in enumerate(question.words):
            end = "*" if place == len(question.words) - 1 else ""
            forms = " OR ".join(f'"{form}"{end}' for form in (word.folded, *word.others))
            wanted.append(f"({forms})" if word.others else forms)
        return " AND ".join(wanted)


def _two_numbers(sql: str, parameters: Sequence[str]) -> tuple[int, int]:
    ((first, second),) = fetch(reading_connection(), sql, parameters)
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
    found = SearchQuery(where="1 = 0", rank="(SELECT 0)")
    if question.words:
        found = _backend().question(question, _key_of(rows.model), part, way)
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


class RankedRows(ABC):
    """What a search finds among rows, the best first, however it asks for them.

    Where few entries have the words, all rows are ranked. Else those with all words in their title come first, then
    the others; of both, the newest `MAX_OF_MANY` are in the order of their rank, and those behind them are by age.
    """

    def __init__(self, question: Question, newest: Sequence[str]) -> None:
        self._question = question
        self._newest = newest

    @property
    @abstractmethod
    def _queryset(self) -> QuerySet[Any]:
        """The rows, whatever words they have."""

    @abstractmethod
    def count(self) -> int:
        """Return how many there are exactly. Takes the longer the more entries have the words."""

    @abstractmethod
    def _count_part(self, part: Part, way: Way) -> int:
        """How many rows of a part there are."""

    @abstractmethod
    def _newest_with_rank(self, part: Part, way: Way, limit: int) -> list[tuple[UUID, float]]:
        """The newest rows of a part, with their rank."""

    @abstractmethod
    def _keys_by_age(self, part: Part, way: Way, begin: int, end: int) -> list[UUID]:
        """Keys of a part, the newest first."""

    def estimate(self, limit: int) -> Count:
        """Return how many there are, exactly up to `limit` and where that is cheap.

        Beyond, the share among the newest rows is taken for the share among all of them.
        """
        if connection.vendor != "postgresql" or _way_for(self._entries) is not Way.EACH:
            return Count(self.count(), is_exact=True)
        place = Window(RowNumber(), order_by=[_order(name) for name in self._newest])
        rows = self._queryset.order_by().annotate(place=place).values("pk", "place")
        sql, parameters = rows.query.sql_with_params()
        fits = PostgresqlSearch.question(self._question, "seen.pk", way=Way.EACH)
        found, seen = _two_numbers(
            f"SELECT count(*), coalesce(max(place), 0) FROM (SELECT place FROM ({sql}) AS seen "  # noqa: S608
            f"WHERE {fits.where} LIMIT {limit + 1}) AS fitting",
            [*parameters, *fits.parameters],
        )
        if found <= limit:
            return Count(found, is_exact=True)
        plan = orjson.loads(self._queryset.order_by().values("pk").explain(format="json"))
        everything = max(seen, int(plan[0]["Plan"]["Plan Rows"]))
        return Count(found * everything // seen, is_exact=False)

    def _keys_of_many(self, begin: int, end: int) -> list[UUID]:
        """Keys of rows where many entries have the words."""
        wanted = end - begin
        keys: list[UUID] = []
        for part, entries in ((Part.TITLES, self._titles), (Part.OTHERS, self._entries)):
            if not entries:
                continue
            way = _way_for(entries)
            size = MAX_OF_MANY
            if begin < MAX_OF_MANY:
                newest = self._newest_with_rank(part, way, MAX_OF_MANY)
                size = len(newest)
                # The sort is stable: of equals the newer one comes first.
                ranked = sorted(newest, key=lambda row: -row[1])
                keys += [key for key, _ in ranked[begin:end]]
            if size == MAX_OF_MANY and end > MAX_OF_MANY:
                keys += self._keys_by_age(part, way, max(begin, MAX_OF_MANY), end)
            if len(keys) == wanted:
                break
            if part is Part.TITLES:
                size = self._count_part(part, way) if size == MAX_OF_MANY else size
                begin, end = max(0, begin - size), end - size
        return keys

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


class Found(RankedRows, Generic[M]):
    """What a search finds among rows; counted and sliced as a queryset is.

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
        super().__init__(question, newest)
        self._rows = rows
        self._shown = shown

    def filter(self, **conditions: Any) -> Found[M]:
        """Those of them that also fit these conditions."""
        return Found(self._rows.filter(**conditions), self._question, self._newest, self._shown)

    def matching(self) -> QuerySet[M]:
        """All of them as a queryset, in the order of the rows."""
        return self._matching(Part.ALL, Way.INDEX if self._are_few else Way.SET)

    def ranked(self) -> QuerySet[M]:
        """All of them as a queryset in the order of their rank, which takes long where they are many."""
        return self.matching().order_by(f"-{RANK}", *self._newest)

    def count(self) -> int:
        return self.matching().order_by().count()

    def __getitem__(self, part: slice) -> list[Any]:
        begin, end = part.start or 0, part.stop
        if self._are_few:
            return list(self._shown(self.ranked())[begin:end])
        keys = self._keys_of_many(begin, end)
        rows = {
            row["id"] if isinstance(row, Mapping) else row.pk: row
            for row in self._shown(self._rows.filter(pk__in=keys))
        }
        # One that was deleted in between is missing.
        return [rows[key] for key in keys if key in rows]

    @property
    def _queryset(self) -> QuerySet[M]:
        return self._rows

    def _matching(self, part: Part, way: Way) -> QuerySet[M]:
        return _matching(self._rows, self._question, part, way)

    def _count_part(self, part: Part, way: Way) -> int:
        return self._matching(part, way).order_by().count()

    def _newest_with_rank(self, part: Part, way: Way, limit: int) -> list[tuple[UUID, float]]:
        found = self._matching(part, way).order_by(*self._newest)
        return list(found.values_list("pk", RANK)[:limit])

    def _keys_by_age(self, part: Part, way: Way, begin: int, end: int) -> list[UUID]:
        found = self._matching(part, way).order_by(*self._newest)
        return list(found.values_list("pk", flat=True)[begin:end])


class FoundKeys(RankedRows):
    """The keys of what a search finds, for pages that are asked for often.

    `rows` makes the rows of its arguments, in which alone one search differs from another: what is asked of them is
    compiled once for each form of a question.
    """

    def __init__(
        self,
        model: type[Model],
        rows: Callable[..., QuerySet[Any]],
        arguments: Sequence[str],
        question: Question,
        newest: tuple[str, ...],
    ) -> None:
        super().__init__(question, newest)
        self._model = model
        self._make_rows = rows
        self._arguments = tuple(arguments)
        self._total: int | None = None

    def page(self, begin: int, end: int) -> list[UUID]:
        """Some of them, the best first. Two queries for words that few entries have, one where none has them."""
        if not self._entries:
            return []
        if not self._are_few:
            return self._keys_of_many(begin, end)
        rows = self._read(_best_keys, Part.ALL, Way.INDEX, begin, end)
        if rows:
            self._total = rows[0].get("total")
        return [row["pk"] for row in rows]

    def count(self) -> int:
        if self._total is not None:
            return self._total
        return self._count_part(Part.ALL, Way.INDEX if self._are_few else Way.SET)

    @property
    def _queryset(self) -> QuerySet[Any]:
        return self._make_rows(*self._arguments)

    def _count_part(self, part: Part, way: Way) -> int:
        rows = self._read(_number_of_keys, part, way, 0, 1)
        return rows[0]["total"] if rows else 0

    def _newest_with_rank(self, part: Part, way: Way, limit: int) -> list[tuple[UUID, float]]:
        rows = self._read(_newest_keys, part, way, 0, limit)
        return [(row["pk"], row[RANK]) for row in rows]

    def _keys_by_age(self, part: Part, way: Way, begin: int, end: int) -> list[UUID]:
        return [row["pk"] for row in self._read(_newest_keys, part, way, begin, end)]

    def _read(self, read: _Read, part: Part, way: Way, begin: int, end: int) -> list[Row]:
        fits = _backend().question(self._question, _key_of(self._model), part, way)
        words = list(dict.fromkeys((*fits.parameters, *fits.rank_parameters)))
        form = _QuestionForm(
            fits.where,
            fits.rank,
            tuple(fits.tables),
            tuple(map(words.index, fits.parameters)),
            tuple(map(words.index, fits.rank_parameters)),
        )
        statement = _compiled(self._make_rows, self._newest, form, read, begin, end)
        return statement.rows(*self._arguments, *words)


@dataclass(frozen=True, slots=True)
class _QuestionForm:
    """A question but for its words: SQL, and for each of its parameters the place of the word."""

    where: str
    rank: str
    tables: tuple[str, ...]
    words: tuple[int, ...]
    rank_words: tuple[int, ...]


_Read = Callable[[QuerySet[Any], Sequence[str]], QuerySet[Any, Any]]


@lru_cache(maxsize=200)
def _compiled(
    rows: Callable[..., QuerySet[Any]],
    newest: Sequence[str],
    form: _QuestionForm,
    read: _Read,
    begin: int,
    end: int,
) -> Statement:
    """Some of the rows that fit a question of a form. Takes the arguments of `rows`, then the words."""
    count = max((*form.words, *form.rank_words)) + 1

    def build(*arguments: str) -> QuerySet[Any, Any]:
        words = arguments[-count:]
        found = rows(*arguments[:-count]).extra(  # noqa: S610  # names of ours
            tables=list(form.tables),
            where=[form.where],
            params=[words[place] for place in form.words],
            select={RANK: form.rank},
            select_params=[words[place] for place in form.rank_words],
        )
        return read(found, newest)[begin:end]

    return Statement(build)


def _best_keys(found: QuerySet[Any], newest: Sequence[str]) -> QuerySet[Any, Any]:
    ranked = found.order_by(f"-{RANK}", *newest)
    # SQLite knows no bm25 beside a window.
    is_counted = connection.vendor == "postgresql"
    return ranked.values("pk", total=Window(RowCount("*"))) if is_counted else ranked.values("pk")


def _newest_keys(found: QuerySet[Any], newest: Sequence[str]) -> QuerySet[Any, Any]:
    return found.order_by(*newest).values("pk", RANK)


def _number_of_keys(found: QuerySet[Any], newest: Sequence[str]) -> QuerySet[Any, Any]:
    return found.order_by().values(total=Window(RowCount("*")))


def _key_of(model: type[Model]) -> str:
    """The column of the key, as SQL names it."""
    return f'"{model._meta.db_table}"."{model._meta.pk.column}"'


def _way_for(entries: int) -> Way:
    if entries <= MAX_RANKED:
        return Way.INDEX
    return Way.SET if entries <= MAX_IN_SET else Way.EACH


def _order(name: str) -> OrderBy:
    return F(name.lstrip("-")).desc() if name.startswith("-") else F(name).asc()


def _backend() -> type[PostgresqlSearch | SqliteSearch]:
    return PostgresqlSearch if connection.vendor == "postgresql" else SqliteSearch
