"""Find and replace over the texts of all apps.

Each app registers its tables and changes its rows by its own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Protocol, TypeVar

from django.db.models import Model, QuerySet
from django.urls import reverse

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.errors import RuleViolation
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import Json, JsonObject

MAX_PROBLEMS: Final = 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A changed value: a text, or a whole rich-text document if one of its nodes is removed."""

    table: str
    row: str
    field: str
    before: Json
    after: Json


@dataclass(slots=True)
class Edit:
    """An edit of texts. With `writes` False it is validated but nothing is written."""

    reason: str
    writes: bool = True
    problems: dict[str, list[str]] = field(default_factory=dict)

    def value(self, table: str, row: str, path: str, value: Json) -> Json:
        """Return the new value for the path; the given value if nothing changes."""
        raise NotImplementedError

    def keys(
        self,
        table: str,
        rows: QuerySet[Any],
        *,
        texts: Sequence[str] = (),
        documents: Sequence[str] = (),
        key: str = "pk",
    ) -> list[Any]:
        """Return the keys of the rows whose text or JSON columns may contain a match."""
        raise NotImplementedError

    def rows_named(self) -> list[tuple[str, str]]:
        """Return the rows that the edit names, as pairs of table and id; empty if it names none."""
        raise NotImplementedError

    def refuse(self, prefix: str, error: RuleViolation) -> None:
        """Record the errors of a row that would become invalid."""
        for path, sentences in (error.details or {"": [error.message]}).items():
            if len(self.problems) < MAX_PROBLEMS:
                self.problems[".".join(part for part in (prefix, path) if part)] = sentences


class Hand:
    """An edit applied to one row, with the places it changed."""

    def __init__(self, edit: Edit, table: str, row: object) -> None:
        self.edit = edit
        self.table = table
        self.row = str(row)
        self.places: list[TextPlace] = []

    def take(self, path: str, value: Json) -> Json:
        """Return the new value for the path and record the change."""
        after = self.edit.value(self.table, self.row, path, value)
        if after != value:
            self.places.append(TextPlace(self.table, self.row, path, value, after))
        return after

    def fold(self, since: int, path: str, before: Json, after: Json) -> None:
        """Replace the changes recorded since index `since` by one change of the whole value that contains them."""
        del self.places[since:]
        self.places.append(TextPlace(self.table, self.row, path, before, after))

    def settle(self, stored: Mapping[str, Json]) -> None:
        """Set the recorded values to what the app's rules stored, by path."""
        now = [replace(place, after=stored.get(place.field, place.after)) for place in self.places]
        self.places = [place for place in now if place.after != place.before]


class TextSource(Protocol):
    """Tables of an app whose texts can be replaced."""

    @property
    def tables(self) -> tuple[str, ...]: ...

    @property
    def permission(self) -> str:
        """The permission to edit these texts by hand."""

    def names(self, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return labels of the rows and URLs of their admin pages, by key. One query per batch."""

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        """Return the keys of the rows that may change. Locks them if the edit writes."""

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[TextPlace]:
        """Change the rows by the rules of their app. Return the changed places."""


text_sources: ExtensionPoint[TextSource] = ExtensionPoint()
"""The tables that find and replace covers."""


def select_sources(tables: Iterable[str]) -> list[TextSource]:
    """Return the sources with at least one of the tables."""
    wanted = set(tables)
    return [source for source in text_sources if wanted & set(source.tables)]


def known_tables() -> list[str]:
    """Return the names of all tables."""
    return [table for source in text_sources for table in source.tables]


M = TypeVar("M", bound=Model)


def find_rows(
    edit: Edit,
    table: str,
    rows: QuerySet[M],
    texts: Sequence[str],
    documents: Sequence[str] = (),
) -> list[Any]:
    """Return the keys of the rows that may contain a match, in order. Locks them if the edit writes."""
    found: list[Any] = []
    for part in batches(edit.keys(table, rows, texts=texts, documents=documents)):
        chosen = rows.filter(pk__in=part).order_by("pk")
        if edit.writes:
            chosen = chosen.select_for_update(of=("self",))
        found += chosen.values_list("pk", flat=True)
    return found


def names_of_rows(rows: QuerySet[M], keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the string of each row and the URL of its admin page."""
    meta = rows.model._meta
    page = f"admin:{meta.app_label}_{meta.model_name}_change"
    return {
        str(row.pk): (str(row), reverse(page, args=[row.pk]))
        for part in batches(keys)
        for row in rows.filter(pk__in=part)
    }


@dataclass(frozen=True, slots=True)
class RowRevisions(Generic[M]):
    """The revisions of a table: how to build a row's document, and how to store the documents of changed rows.

    `record` gets each changed row with its document before the change.
    """

    document_of: Callable[[M], JsonObject]
    record: Callable[[Sequence[tuple[M, JsonObject]], Actor, str], None]


@dataclass(frozen=True)
class RowSource(Generic[M]):
    """A source of one table.

    `change_row` sets the columns of a row from `hand.take` by the rules of the app, and raises `RuleViolation` if
    they forbid the change. `what` names the kind of object in the event of each row.
    """

    table: str
    what: str
    permission: str
    rows: Callable[[], QuerySet[M]]
    change_row: Callable[[M, Hand], None]
    texts: tuple[str, ...]
    documents: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    """Further columns that each change sets."""
    follow: Callable[[Sequence[M]], None] | None = None
    """Updates other data after rows were written, in the same transaction."""
    revisions: RowRevisions[M] | None = None
    """Set if each change of a row creates a revision."""
    changeable: Callable[[QuerySet[M], Actor], QuerySet[M]] = lambda rows, actor: rows
    """Filters the rows that the actor may change, for users limited to a part of the content."""

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.table,)

    def names(self, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        return names_of_rows(self.rows(), keys)

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        return find_rows(edit, self.table, self.rows(), self.texts, self.documents)

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[TextPlace]:
        places: list[TextPlace] = []
        for part in batches(keys):
            changed: list[M] = []
            documents_before: list[JsonObject] = []
            rows = self.changeable(self.rows(), actor).filter(pk__in=part)
            for row in rows.order_by("pk"):
                hand = Hand(edit, self.table, row.pk)
                before = self.revisions.document_of(row) if self.revisions else {}
                try:
                    self.change_row(row, hand)
                except RuleViolation as error:
                    edit.refuse(f"{self.table}.{row.pk}", error)
                    continue
                if hand.places:
                    changed.append(row)
                    documents_before.append(before)
                    places += hand.places
            if edit.writes and changed:
                self._write(changed, actor)
                if self.revisions is not None:
                    pairs = list(zip(changed, documents_before, strict=True))
                    self.revisions.record(pairs, actor, edit.reason)
        return places

    def _write(self, rows: Sequence[M], actor: Actor) -> None:
        names = [*self.texts, *self.documents, *self.touched]
        self.rows().model._default_manager.bulk_update(rows, names, batch_size=100)
        if self.follow is not None:
            self.follow(rows)
        outbox.record_all(
            "content.changed",
            [
                (
                    None,
                    {
                        "what": self.what,
                        "id": str(row.pk),
                        "did": "updated",
                        **({"slug": row.slug} if hasattr(row, "slug") else {}),
                    },
                )
                for row in rows
            ],
            actor=actor,
        )
