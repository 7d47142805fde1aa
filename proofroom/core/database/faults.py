"""Faults of the database that no row and no person caused."""

from __future__ import annotations

from typing import Final

from django.db import InterfaceError, OperationalError

DATABASE_AWAY: Final = (OperationalError, InterfaceError)
"""The fault of no item: background work is left as it is, and the sweep goes on with it later."""


class CommitInterrupted(OperationalError):
    """The connection was lost while PostgreSQL was asked to commit: the changes may be stored or not."""
