"""Settings of migrations. On PostgreSQL they run unprepared, since Django writes some changes as two statements in
one text."""

from __future__ import annotations

from typing import Any

from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader


def begin(*, using: str, **_: Any) -> None:
    """Before the migrations of a database."""
    _prepare_after(using, None)


def end(*, using: str, **_: Any) -> None:
    """After them: what the settings say again."""
    options = connections[using].settings_dict.get("OPTIONS", {})
    _prepare_after(using, options.get("prepare_threshold"))


def is_complete() -> bool:
    """Return whether every migration is applied.

    What is made after each `migrate` needs all tables; a database that was taken back to an earlier version lacks
    some.
    """
    loader = MigrationLoader(connection)
    return all(leaf in loader.applied_migrations for leaf in loader.graph.leaf_nodes())


def _prepare_after(using: str, uses: int | None) -> None:
    migrated = connections[using]
    if migrated.vendor == "postgresql":
        migrated.ensure_connection()
        migrated.connection.prepare_threshold = uses
