"""Support for `migrate`: a check for tables of an earlier, incompatible version.

On PostgreSQL migrations run without prepared statements, because Django sends some changes as two statements in one
string, which cannot be prepared. A change of a table waits for its lock for a limited time, because all reads and
writes of the table wait behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

_EARLIER_MIGRATIONS: Final = frozenset({("core", "0003_outbox"), ("content", "0002_search")})
"""Migrations that only databases from before 0.1.0 have applied."""
LOCK_TIMEOUT_MS: Final = 10_000
_TAKES_LOCK: Final = ("ALTER", "CREATE", "DROP", "LOCK", "REINDEX", "TRUNCATE")


def earlier_version_message(using: str) -> str:
    """Return how to start with a new database; "" if the database is empty or of this version."""
    connection = connections[using]
    if not _EARLIER_MIGRATIONS.intersection(MigrationRecorder(connection).applied_migrations()):
        return ""
    name = connection.settings_dict["NAME"]
    advice = (
        "set CMS_DATA_DIR to a new folder"
        if connection.vendor == "sqlite"
        else "set DATABASE_URL to a new database"
    )
    return (
        f"{name} holds the tables of an earlier version, which this version cannot take over: "
        f"{advice} and start again; nothing was changed or deleted."
    )


@register(Tags.database)
def check_earlier_version(
    app_configs: Sequence[AppConfig] | None,
    databases: Sequence[str] | None = None,
    **kwargs: object,
) -> list[CheckMessage]:
    """Stop `migrate` on a database with tables of an earlier version."""
    messages = (earlier_version_message(using) for using in databases or ())
    return [Error(message, id="proofroom_core.E001") for message in messages if message]


def begin(*, using: str, **_: Any) -> None:
    """Disable prepared statements and limit the wait for locks before the migrations of a database."""
    _set_prepare_threshold(using, None)
    wrappers = connections[using].execute_wrappers
    if connections[using].vendor == "postgresql" and _limit_lock_wait not in wrappers:
        wrappers.append(_limit_lock_wait)


def end(*, using: str, **_: Any) -> None:
    """Restore the settings after the migrations."""
    if _limit_lock_wait in connections[using].execute_wrappers:
        connections[using].execute_wrappers.remove(_limit_lock_wait)
    options = connections[using].settings_dict.get("OPTIONS", {})
    _set_prepare_threshold(using, options.get("prepare_threshold"))


def is_complete() -> bool:
    """Return whether all migrations are applied.

    Handlers of `post_migrate` need all tables, and a database migrated back to an earlier state lacks some.
    """
    loader = MigrationLoader(connection)
    return all(leaf in loader.applied_migrations for leaf in loader.graph.leaf_nodes())


def _limit_lock_wait(
    execute: Callable[..., object], sql: object, params: object, many: bool, context: dict[str, Any]
) -> object:
    """Set `lock_timeout` before a statement that changes tables.

    The setting ends with the transaction: behind a pooler, the next user of the connection must not get it.
    """
    wrapper = context["connection"]
    if wrapper.in_atomic_block and str(sql).lstrip().upper().startswith(_TAKES_LOCK):
        wrapper.connection.execute(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}")
    return execute(sql, params, many, context)


def _set_prepare_threshold(using: str, uses: int | None) -> None:
    migrated = connections[using]
    if migrated.vendor == "postgresql":
        migrated.ensure_connection()
        migrated.connection.prepare_threshold = uses
