"""Kinds of content in an archive. Each app registers its own, with how its rows are written and read.

    class CompanyKind(ArchiveKind[CompanyRow]):
        name = "companies"
        ...

    archive_kinds.register(CompanyKind(), name="companies", order=45)

An import goes through the kinds in their order five times: `check` refuses rows that contradict one another, `match`
finds what is here already, `prepare` stores files, and in one transaction `write` stores rows and `finish` judges
what all of them together have made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar, get_args
from uuid import UUID

from django.db.models import Model, QuerySet
from django.utils.functional import Promise

from proofroom.archive.consistency import NumberedRow, refuse_doubles
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport
from proofroom.archive.rows import ArchiveRow, IdentifiedRow
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject

Row = TypeVar("Row", bound=ArchiveRow)


class ArchiveKind(ABC, Generic[Row]):
    """One kind of content. `name` is that of its file; `row` is read from the type argument."""

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    unique: ClassVar[Sequence[Sequence[str]]] = (("id",),)
    """Fields, as a row writes them, whose values no two rows share."""
    row: ClassVar[type[Any]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            found = get_args(base)
            if found and isinstance(found[0], type):
                cls.row = found[0]

    def select(self, export: Export) -> None:
        """Where only some posts are exported: put what of each kind comes with them into `export.wanted`."""

    @abstractmethod
    def export(self, export: Export) -> Iterator[JsonObject]:
        """The rows, in an order that their content decides: by id, what stands above others first."""

    def check(self, rows: Iterator[NumberedRow]) -> None:
        """Raise `ArchiveError` where rows contradict one another. They are as they were written, of any shape."""
        refuse_doubles(self.name, rows, self.unique)

    def match(self, rows: Iterator[Row], job: ArchiveImport) -> None:
        """Say which rows stand here already under another id (`job.map_id`). Writes nothing."""

    def prepare(self, rows: Iterator[Row], job: ArchiveImport) -> None:
        """Do what no transaction covers. What is done must be undone by `job.on_failure`."""

    @abstractmethod
    def write(self, rows: Iterator[Row], job: ArchiveImport) -> None:
        """Store the rows, which name everything by the ids that it has here."""

    def finish(self, rows: Iterator[Row], job: ArchiveImport) -> None:
        """Check and complete what was stored, now that the rows of every kind are."""


TableRow = TypeVar("TableRow", bound=IdentifiedRow)
M = TypeVar("M", bound=Model)


class TableKind(ArchiveKind[TableRow], Generic[TableRow, M]):
    """Content of one table. What an archive holds is here already under its id, or under the rest of its key."""

    model: type[M]

    @abstractmethod
    def key(self, row: TableRow) -> dict[str, object]:
        """The columns, with the row's values, that no two rows of the table share."""

    @abstractmethod
    def title(self, row: TableRow) -> str:
        """What a report calls the row."""

    def stored(self) -> QuerySet[M]:
        """The rows of the table that are of this kind."""
        return self.model._default_manager.all()

    def find(self, row: TableRow) -> M | None:
        """What stands here under the id of the row."""
        return self.stored().filter(pk=UUID(row.id)).first()

    def match(self, rows: Iterator[TableRow], job: ArchiveImport) -> None:
        for row in rows:
            if self.find(row) is None:
                same = self.stored().filter(**self.key(row)).first()
                if same is not None:
                    job.map_id(row.id, str(same.pk))

    def write(self, rows: Iterator[TableRow], job: ArchiveImport) -> None:
        for row in rows:
            here = self.find(row)
            with job.writing(self.name, self.title(row), row.id, is_here=here is not None):
                self.write_row(row, here, job)

    @abstractmethod
    def write_row(self, row: TableRow, here: M | None, job: ArchiveImport) -> None:
        """Store one row, and tell the report what came of it."""


archive_kinds: ExtensionPoint[ArchiveKind[Any]] = ExtensionPoint()
"""In the order in which they are imported."""
