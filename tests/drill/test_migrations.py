"""`migrate` makes the same tables as Django's own command."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import run_command

pytestmark = pytest.mark.drill
DJANGOS_OWN = """
import django; django.setup()
from django.core.management import call_command
from django.core.management.commands.migrate import Command
call_command(Command(), verbosity=0)
"""


def tables_of(folder: Path, *arguments: str) -> list[tuple[str, str, str]]:
    """Return the tables, indexes and triggers of a new database that this Python command makes."""
    environ = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "REDIS_URL")
    }
    folder.mkdir()
    environ |= {"CMS_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "cms_project.settings"}
    run_command([sys.executable, *arguments], env=environ, check=True, timeout=900)
    with closing(sqlite3.connect(folder / "cms.sqlite3")) as database:
        return database.execute(
            "SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2"
        ).fetchall()


def test_the_tables_are_those_of_djangos_own_command(tmp_path: Path) -> None:
    ours = tables_of(tmp_path / "ours", "manage.py", "migrate", "--verbosity=0")
    assert len(ours) > 200
    assert ours == tables_of(tmp_path / "own", "-c", DJANGOS_OWN)
