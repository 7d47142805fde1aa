"""Migrations on PostgreSQL run unprepared: Django writes some changes as two statements in one text."""

from __future__ import annotations

from typing import Any

from django.db import connections


def begin(*, using: str, **_: Any) -> None:
    """Before the migrations of a database."""
    _prepare_after(using, None)


def end(*, using: str, **_: Any) -> None:
    """After them: what the settings say again."""
    options = connections[using].settings_dict.get("OPTIONS", {})
    _prepare_after(using, options.get("prepare_threshold"))


def _prepare_after(using: str, uses: int | None) -> None:
    connection = connections[using]
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        connection.connection.prepare_threshold = uses
