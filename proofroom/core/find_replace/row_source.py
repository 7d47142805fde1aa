"""Find and replace in plain rows: models whose texts are columns, changed together in one statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.find_replace.sources import Edit, Hand, TextPlace, batches

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class RowSource(Generic[M]):
    """`change` sets the columns of a row from what the hand takes, by the rules of the app, and raises
    `RuleViolation` where they forbid it. `what` names the thing in the event of each row."""

    table: str
    what: str
    rows: Callable[[], QuerySet[M]]
    change_row: Callable[[M, Hand], None]
    texts: tuple[str, ...]
    documents: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    """Columns that every change sets, beside the texts."""
    follow: Callable[[Sequence[M]], None] | None = None
    """What is kept of rows that were written, in the transaction of their change."""

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.table,)

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        keys = edit.keys(self.table, self.rows(), texts=self.texts, documents=self.documents)
        found: list[Any] = []
        for part in batches(keys):
            rows = self.rows().filter(pk__in=part).order_by("pk")
            if edit.writes:
                rows = rows.select_for_update(of=("self",))
            found += rows.values_list("pk", flat=True)
        return found

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[TextPlace]:
        places: list[TextPlace] = []
        for part in batches(keys):
            changed: list[M] = []
            for row in self.rows().filter(pk__in=part).order_by("pk"):
                hand = Hand(edit, self.table, row.pk)
                try:
                    self.change_row(row, hand)
                except RuleViolation as error:
                    edit.refuse(f"{self.table}.{row.pk}", error)
                    continue
                if hand.places:
                    changed.append(row)
                    places += hand.places
            if edit.writes:
                self._write(changed, actor)
        return places

    def _write(self, rows: Sequence[M], actor: Actor) -> None:
        names = [*self.texts, *self.documents, *self.touched]
        self.rows().model._default_manager.bulk_update(rows, names, batch_size=100)
        if self.follow is not None:
            self.follow(rows)
        outbox.record_all(
            "content.changed",
            [(None, {"what": self.what, "id": str(row.pk), "did": "updated"}) for row in rows],
            actor=actor,
        )
