"""Declarations of what the role of agents may do with each table.

Every app with tables has a `lane_rights.py` with `RIGHTS`, and may have `FUNCTIONS` and `TRIGGERS` there. A table
without a declaration is closed to the role.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model

Rows = str | Callable[[], str]
"""An SQL condition on the rows that the role may write. A function can build it from declarations of the site."""


@dataclass(frozen=True, slots=True)
class TableRights:
    """The rights on the table of one model, named by its label such as `content.Draft`.

    `updates`: the fields it may change, None for all. `locks`: it may lock rows that it cannot change. `rows`: the
    rows that it may write; the empty condition means all. `new_rows` and `changed_rows`: what must hold of a row
    after an insert or an update instead.
    """

    model: str
    reads: bool = False
    inserts: bool = False
    updates: tuple[str, ...] | None = ()
    deletes: bool = False
    locks: bool = False
    rows: Rows = ""
    new_rows: Rows = ""
    changed_rows: Rows = ""

    @property
    def has_row_security(self) -> bool:
        return self.locks or any((self.rows, self.new_rows, self.changed_rows))


def condition_of(*rows: Rows) -> str:
    """Return the first condition that is not empty, else one that always holds."""
    found = next((one for one in rows if one), "true")
    return found if isinstance(found, str) else found()


def hidden(*models: str) -> tuple[TableRights, ...]:
    """Declare tables that the role cannot even read, such as sessions: who can read one is somebody else."""
    return tuple(TableRights(model) for model in models)


def readable(*models: str) -> tuple[TableRights, ...]:
    """Declare tables that the role only reads."""
    return tuple(TableRights(model, reads=True) for model in models)


def lockable(*models: str) -> tuple[TableRights, ...]:
    """Declare tables whose rows the role reads and locks, so that nobody deletes them before its write."""
    return tuple(TableRights(model, reads=True, locks=True) for model in models)


def writable(
    model: str,
    *,
    inserts: bool = False,
    updates: Iterable[str] | None = (),
    deletes: bool = False,
    locks: bool = False,
    rows: Rows = "",
    new_rows: Rows = "",
    changed_rows: Rows = "",
) -> tuple[TableRights, ...]:
    """Declare a table that the role reads and writes (see `TableRights`)."""
    columns = None if updates is None else tuple(sorted(updates))
    return (
        TableRights(model, True, inserts, columns, deletes, locks, rows, new_rows, changed_rows),
    )


@dataclass(frozen=True, slots=True)
class LaneFunction:
    """A function in the role's schema that runs with the rights of the tables' owner.

    `arguments` are SQL, such as `ids uuid[]`. In `body`, `{tables}` stands for the schema of the site's tables and
    `{lane}` for the role's own. `is_open`: the role may call it; other functions call the rest. `is_pure`: its result
    depends on its arguments only, so that the database calls it only for rows that need it.
    """

    name: str
    arguments: str
    returns: str
    body: Callable[[], str]
    is_open: bool = True
    is_pure: bool = False
    language: str = "plpgsql"


@dataclass(frozen=True, slots=True)
class LaneTrigger:
    """A trigger that calls a `LaneFunction` before each write of a row by the role, and by nobody else."""

    name: str
    model: str
    function: str


class LaneModule(Protocol):
    """The `lane_rights` of an app. `FUNCTIONS` and `TRIGGERS` may be missing."""

    RIGHTS: Sequence[TableRights]
    FUNCTIONS: Sequence[LaneFunction]
    TRIGGERS: Sequence[LaneTrigger]


def all_rights() -> dict[type[Model], TableRights]:
    """Return the rights by model, for all tables of this site with a declaration.

    Raises `ImproperlyConfigured` if a table is declared twice.
    """
    found: dict[type[Model], TableRights] = {}
    for module in _modules():
        for rights in module.RIGHTS:
            app_label, _, name = rights.model.rpartition(".")
            if app_label not in apps.app_configs:
                continue
            model = apps.get_model(app_label, name)
            if model in found:
                raise ImproperlyConfigured(f"The rights of {rights.model} are declared twice.")
            found[model] = rights
    return found


def undeclared_models() -> list[type[Model]]:
    """Return the models whose tables have no declaration."""
    declared = {model._meta.db_table for model in all_rights()}
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.db_table not in declared
    ]


def all_functions() -> list[LaneFunction]:
    return [one for module in _modules() for one in getattr(module, "FUNCTIONS", ())]


def all_triggers() -> list[LaneTrigger]:
    return [one for module in _modules() for one in getattr(module, "TRIGGERS", ())]


def _modules() -> Iterator[LaneModule]:
    """Yield the `lane_rights` of the installed apps."""
    for app in apps.get_app_configs():
        name = f"{app.name}.lane_rights"
        try:
            yield cast("LaneModule", importlib.import_module(name))
        except ModuleNotFoundError as error:
            # The app has no such module. An import error inside of one must not be hidden.
            if error.name != name:
                raise
