"""Kinds of content in an archive. Each app registers its own, with the code that exports and imports its rows.

    class CompanyKind(ArchiveKind[CompanyRow]):
        name = "companies"
        ...

    archive_kinds.register(CompanyKind(), name="companies", order=45)

An import calls five steps, each for all kinds in order: `check` refuses contradicting rows, `match` finds existing
content, `prepare` stores files; then, in one transaction, `write` stores rows and `finish` validates the result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar, get_args
from uuid import UUID

from django.db.models import Model, QuerySet
from django.utils.functional import Promise

from proofroom.archive.consistency import NumberedRow, refuse_duplicates
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport
from proofroom.archive.rows import ArchiveRow, IdentifiedRow
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject

Row = TypeVar("Row", bound=ArchiveRow)


class ArchiveKind(ABC, Generic[Row]):
    """A kind of content. `name` is also the name of its file. `row` comes from the type argument."""

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    unique: ClassVar[Sequence[Sequence[str]]] = (("id",),)
    """Groups of fields, by their names in a row, whose values must be unique."""
    row: ClassVar[type[Any]]

    def __init_subclass__(cls) -> None:
        # The row class is the first type argument, as in `ArchiveKind[CompanyRow]`. Type variables of generic
        # subclasses are not classes.
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            arguments = get_args(base)
            if arguments and isinstance(arguments[0], type):
                cls.row = arguments[0]

    def select(self, export: Export) -> None:
        """Add the ids that the selected posts need to `export.wanted`. Called only if posts are selected."""

    @abstractmethod
    def export(self, export: Export) -> Iterator[JsonObject]:
        """Yield the rows in an order that depends only on content: by id, parents before children."""

    def check(self, rows: Iterator[NumberedRow]) -> None:
        """Raise `ArchiveError` if rows contradict each other. The rows are raw and not validated."""
        refuse_duplicates(self.name, rows, self.unique)

    def match(self, rows: Iterator[Row], job: ArchiveImport) -> None:
        """Map ids of rows that exist here under another id (`job.map_id`). Writes nothing."""

    def prepare(self, rows: Iterator[Row], job: ArchiveImport) -> None:
        """Do work outside the transaction, such as storing files. Register its undo with `job.on_failure`."""

    @abstractmethod
    def write(self, rows: Iterator[Row], job: ArchiveImport) -> None:
        """Store the rows. Their references already have the ids used here."""

    def finish(self, rows: Iterator[Row], job: ArchiveImport) -> None:
        """Validate and complete the stored content after the rows of all kinds are written."""


TableRow = TypeVar("TableRow", bound=IdentifiedRow)
M = TypeVar("M", bound=Model)


class TableKind(ArchiveKind[TableRow], Generic[TableRow, M]):
    """A kind whose content is one table. A row matches an existing object by its id, or else by its `key`."""

    model: type[M]

    @abstractmethod
    def key(self, row: TableRow) -> dict[str, object]:
        """Return the unique columns, besides the id, with the row's values."""

    @abstractmethod
    def title(self, row: TableRow) -> str:
        """Return the title of the row for reports."""

    def stored(self) -> QuerySet[M]:
        """Return the table's rows of this kind."""
        return self.model._default_manager.all()

    def find(self, row: TableRow) -> M | None:
        """Return the stored object with the row's id, or None."""
        return self.stored().filter(pk=UUID(row.id)).first()

    def match(self, rows: Iterator[TableRow], job: ArchiveImport) -> None:
        for row in rows:
            if self.find(row) is None:
                existing = self.stored().filter(**self.key(row)).first()
                if existing is not None:
                    job.map_id(row.id, str(existing.pk))

    def write(self, rows: Iterator[TableRow], job: ArchiveImport) -> None:
        for row in rows:
            here = self.find(row)
            with job.writing(self.name, self.title(row), row.id, is_here=here is not None):
                self.write_row(row, here, job)

    @abstractmethod
    def write_row(self, row: TableRow, here: M | None, job: ArchiveImport) -> None:
        """Store one row and report the result."""


archive_kinds: ExtensionPoint[ArchiveKind[Any]] = ExtensionPoint()
"""Registered kinds, in import order."""
