"""Kinds of personal data: what the site holds about a person in some tables, and what erasing does with it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from django.apps import apps
from django.db.models import Model, Q, QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy

from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.privacy.person import Person

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Words = str | StrPromise

_BATCH_ROWS: Final = 500


class Erasure(StrEnum):
    """What erasing a person does with a kind of data."""

    DELETED = "deleted"
    MASKED = "masked"
    PSEUDONYMISED = "pseudonymised"
    KEPT = "kept"


ERASURE_LABELS: Final[Mapping[Erasure, StrPromise]] = {
    Erasure.DELETED: gettext_lazy("Deleted"),
    Erasure.MASKED: gettext_lazy("Address removed"),
    Erasure.PSEUDONYMISED: gettext_lazy("Kept under “Former member”"),
    Erasure.KEPT: gettext_lazy("Kept"),
}


class PersonalDataKind(ABC):
    """A kind of personal data. `models` are the labels of its tables.

    `reason` says what stays and why. Kinds are erased in their `order`. Each method may be called again at any time:
    after an erasure it finds what was added since.
    """

    name: str
    label: Words
    models: tuple[str, ...]
    erasure: Erasure
    reason: Words = ""
    order: int = 50

    @abstractmethod
    def count(self, person: Person) -> int:
        """Return the number of objects about the person."""

    @abstractmethod
    def records(self, person: Person) -> Iterator[JsonObject]:
        """Yield the objects for an export: values by label, without secrets."""

    def erase(self, person: Person, actor: Actor) -> int:
        """Erase in the caller's transaction. Return the number of changed objects."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Table:
    """A table with columns about people. Columns are names or paths, as in filters.

    A row is about a person if one of `owners` is their account, one of `emails` is their address, one of `names` is
    the name of their account, or one of `texts` mentions their address. `names` maps the column of a name to the
    column of its account, or to an empty text if it has none. `shown` are the columns of an export. No secret may be
    among them.
    """

    model: str
    shown: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[str, ...] = ()

    @property
    def rows(self) -> QuerySet[Any]:
        rows: QuerySet[Any] = apps.get_model(self.model)._default_manager.all()
        return rows

    @property
    def label(self) -> str:
        return str(capfirst(apps.get_model(self.model)._meta.verbose_name))

    def filter_owned(self, person: Person) -> QuerySet[Any]:
        """Return the rows of the account and of the address, without mentions in texts."""
        found = Q(*((f"{column}__iexact", person.email) for column in self.emails), _connector=Q.OR)
        if person.user_id is not None:
            for owner in self.owners:
                found |= Q(**{owner: person.user_id})
            for column, owner in self.names.items():
                found |= _is_named(person, column, owner)
        return self.rows.filter(found) if found else self.rows.none()

    def mentions(self, person: Person, *, locked: bool = False) -> Iterator[Any]:
        """Yield the rows whose texts mention the address."""
        rows = self.rows.select_for_update(no_key=True, of=("self",)) if locked else self.rows
        found = person.filter_mentions(rows, *self.texts).order_by("pk")
        for row in found.iterator(chunk_size=_BATCH_ROWS):
            if any(person.is_mentioned(getattr(row, column)) for column in self.texts):
                yield row

    def record(self, row: Model) -> JsonObject:
        return {"record": self.label, "id": str(row.pk), **dict(self._values(row))}

    def _values(self, row: Model) -> Iterator[tuple[str, Json]]:
        meta = row._meta
        for column in self.shown:
            value = getattr(row, column)
            label = capfirst(str(meta.get_field(column).verbose_name))  # type: ignore[union-attr]
            yield label, _as_json(value)


_SECRET_KEYS: Final = re.compile(r"token|secret|password|(?:api|private)_?key|code", re.IGNORECASE)


def _as_json(value: Any) -> Json:
    if isinstance(value, dict):
        # Answers of login providers may contain tokens.
        return {key: _as_json(item) for key, item in value.items() if not _SECRET_KEYS.search(key)}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)


class TableKind(PersonalDataKind):
    """A kind of data that its tables describe completely. What they share is erased in the same way."""

    def __init__(
        self,
        name: str,
        label: Words,
        *tables: Table,
        erasure: Erasure,
        reason: Words = "",
        order: int = 50,
    ) -> None:
        self.name, self.label, self.tables = name, label, tables
        self.models = tuple(dict.fromkeys(table.model for table in tables))
        self.erasure, self.reason, self.order = erasure, reason, order

    def count(self, person: Person) -> int:
        return sum(
            sum(1 for _row in table.mentions(person))
            if table.texts
            else table.filter_owned(person).count()
            for table in self.tables
        )

    def records(self, person: Person) -> Iterator[JsonObject]:
        for table in self.tables:
            owned = table.filter_owned(person).order_by("pk")
            rows = table.mentions(person) if table.texts else owned.iterator(chunk_size=_BATCH_ROWS)
            for row in rows:
                yield table.record(row)

    def erase(self, person: Person, actor: Actor) -> int:
        count = 0
        for table in self.tables:
            if self.erasure == Erasure.DELETED:
                rows = table.filter_owned(person)
                count += rows.count()
                rows.delete()
            elif self.erasure == Erasure.PSEUDONYMISED:
                count += _replace_names(table, person)
            elif self.erasure == Erasure.MASKED:
                count += _mask_texts(table, person)
        return count


def _is_named(person: Person, column: str, owner: str) -> Q:
    """Return the rows with the name of the account, which may have been another person's before."""
    named = Q(**{column: person.username})
    return named & Q(**{f"{owner}__isnull": True}) if owner else named


def _replace_names(table: Table, person: Person) -> int:
    """Replace the names of the account. Return the number of changed values."""
    if person.user_id is None:
        return 0
    count = 0
    for column, owner in table.names.items():
        is_theirs = _is_named(person, column, owner)
        if owner:
            # The name of the account may have changed since.
            is_theirs |= Q(**{owner: person.user_id}) & ~Q(**{column: ""})
        rows = table.rows.filter(is_theirs).exclude(**{column: person.pseudonym})
        count += rows.update(**{column: person.pseudonym})
    return count


def _mask_texts(table: Table, person: Person) -> int:
    count = 0
    # All first: rows must not change while they are read.
    for row in list(table.mentions(person, locked=True)):
        masked = {column: person.mask(getattr(row, column)) for column in table.texts}
        # An update of the columns alone: `save` could change times and other columns.
        table.rows.filter(pk=row.pk).update(**masked)
        count += 1
    return count
