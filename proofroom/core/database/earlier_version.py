"""Databases of an earlier version, whose migrations this version does not continue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
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
