"""What `migrate` needs: no tables of an earlier version, whose migrations this version does not continue.

On PostgreSQL it runs unprepared, since Django writes some changes as two statements in one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

_EARLIER_MIGRATIONS: Final = frozenset({("core", "0003_outbox"), ("accounts", "0003_api_tokens")})


def earlier_version_message(using: str) -> str:
    """Return how to begin with a new database, or "" for one that is empty or of this version."""
    connection = connections[using]
    if not _EARLIER_MIGRATIONS.intersection(MigrationRecorder(connection).applied_migrations()):
        return ""
    name = connection.settings_dict["NAME"]
    way = (
        "set CMS_DATA_DIR to a new folder"
        if connection.vendor == "sqlite"
        else "set DATABASE_URL to a new database"
    )
    return (
        f"{name} holds the tables of an earlier version, which this version cannot take over: "
        f"{way} and start again; nothing was changed or deleted."
    )


@register(Tags.database)
def check_earlier_version(
    app_configs: Sequence[AppConfig] | None,
    databases: Sequence[str] | None = None,
    **kwargs: object,
) -> list[CheckMessage]:
    """Stop `migrate` before it meets tables that its migrations do not know."""
    messages = (earlier_version_message(using) for using in databases or ())
    return [Error(message, id="proofroom_core.E001") for message in messages if message]


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
