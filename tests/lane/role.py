"""The role of agents in tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
import pytest
from django.db import InternalError, OperationalError, connection, transaction

from proofroom.core.lane import ROLE
from proofroom.core.lane.installation import install, set_password

PASSWORD: Final = "only-in-tests"


def install_role() -> None:
    """Install the role in the database of the test. Roles belong to the server, so other tests may have made it."""
    assert not [difference.found for difference in install()]


@contextmanager
def as_lane() -> Iterator[None]:
    """Send all statements of the block under the role of agents, as its own connection would."""
    user = connection.settings_dict["USER"]
    with pytest.MonkeyPatch.context() as patch:
        _run(f"SET ROLE {ROLE}")
        patch.setitem(connection.settings_dict, "USER", ROLE)
        try:
            yield
        finally:
            patch.setitem(connection.settings_dict, "USER", user)
            _run("RESET ROLE")


@contextmanager
def as_owner() -> Iterator[None]:
    """Leave the role for the block, as for the work of another process."""
    with pytest.MonkeyPatch.context() as patch:
        _run("RESET ROLE")
        patch.setitem(connection.settings_dict, "USER", "")
        try:
            yield
        finally:
            _run(f"SET ROLE {ROLE}")


def is_under_role() -> bool:
    return bool(connection.settings_dict["USER"] == ROLE)


def _run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


@contextmanager
def lane_connection() -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Connect as the role itself, with nothing to return to."""
    _set_password()
    info = connection.connection.info
    with psycopg.connect(
        host=info.host,
        port=info.port,
        dbname=info.dbname,
        user=ROLE,
        password=PASSWORD,
        autocommit=True,
    ) as opened:
        yield opened


def _set_password() -> None:
    # Roles belong to the server. Other processes of the tests set the same password, maybe at the same moment.
    for left in range(9, -1, -1):
        try:
            with transaction.atomic():
                set_password(PASSWORD)
            return
        except (InternalError, OperationalError):
            if not left:
                raise
