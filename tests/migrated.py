"""A database with all tables, created once for each state of the migrations: migrating is slower than most tests."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.apps import apps
from django.db.migrations.loader import MigrationLoader

from tests.commands import run_command

ROOT: Final = Path(__file__).resolve().parents[1]
NAME: Final = "cms.sqlite3"
_MADE: Final = ROOT / ".pytest_cache" / "migrated"
_PREFIX: Final = "cms_migrated_"
_KEPT: Final = 3
"""Number of states to keep, so that switching branches does not migrate again."""


def give_database(folder: Path) -> None:
    """Copy a migrated database into a data folder without one."""
    shutil.copyfile(migrated_file(), folder / NAME)


def migrated_file() -> Path:
    """Return a migrated SQLite file to copy. The first process creates it, the others wait."""
    made = _MADE / f"{_state()}.sqlite3"
    _MADE.mkdir(parents=True, exist_ok=True)
    with (_MADE / "making").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            _make_file(made)
        made.touch()
        by_use = sorted(_MADE.glob("*.sqlite3"), key=lambda file: file.stat().st_mtime)
        for file in by_use[:-_KEPT]:
            file.unlink()
    return made


def migrated_database(address: str) -> str:
    """Return the name of a migrated PostgreSQL database, a template for others.

    The first process creates it, the others wait.
    """
    name = _PREFIX + _state()
    half_made = f"{_PREFIX}making"
    with psycopg.connect(_renamed(address, "postgres"), autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(hashtext(%s))", [_PREFIX])
        rows = server.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s) ORDER BY oid", [_PREFIX]
        )
        found = [row[0] for row in rows if row[0] != half_made]
        if name in found:
            return name
        server.execute(f"DROP DATABASE IF EXISTS {half_made} WITH (FORCE)".encode())
        server.execute(f"CREATE DATABASE {half_made}".encode())
        _migrate(DATABASE_URL=_renamed(address, half_made))
        server.execute(f"ALTER DATABASE {half_made} RENAME TO {name}".encode())
        for old in found[: 1 - _KEPT]:
            server.execute(f"DROP DATABASE IF EXISTS {old} WITH (FORCE)".encode())
    return name


def _renamed(address: str, name: str) -> str:
    return urlunsplit(urlsplit(address)._replace(path=f"/{name}"))


def _make_file(made: Path) -> None:
    folder = _MADE / "half-made"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    _migrate(CMS_DATA_DIR=str(folder), DATABASE_URL="")
    with closing(sqlite3.connect(folder / NAME)) as connection:
        # One whole file, which a database in memory can be made from as well.
        connection.execute("PRAGMA journal_mode=DELETE")
    (folder / NAME).rename(made)
    shutil.rmtree(folder)


def _migrate(**environ: str) -> None:
    done = run_command(
        [sys.executable, "manage.py", "migrate", "--verbosity=0", "--skip-checks"],
        env={**os.environ, "REDIS_URL": "", **environ},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


def _state() -> str:
    """Return a digest of everything that decides the tables.

    Rows that `migrate` creates are not part of it: a copy is migrated too.
    """
    digest = hashlib.sha256()
    for file in _migration_files():
        source = file.read_bytes()
        digest.update(source)
        for name in re.findall(r"^(?:import|from) ([\w.]+)", source.decode(), re.MULTILINE):
            digest.update(_source_of_own(name))
    return digest.hexdigest()[:16]


def _migration_files() -> Iterator[Path]:
    for config in apps.get_app_configs():
        module, _ = MigrationLoader.migrations_module(config.label)
        spec = find_spec(module) if module else None
        for folder in spec.submodule_search_locations or () if spec else ():
            yield from sorted(Path(folder).glob("*.py"))


def _source_of_own(module: str) -> bytes:
    """Return the source of a module of the product, because migrations may use its fields and indexes."""
    if not (ROOT / module.partition(".")[0]).is_dir():
        return b""
    spec = find_spec(module)
    return Path(spec.origin).read_bytes() if spec and spec.origin else b""
