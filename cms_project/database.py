"""Django's database settings from one address."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from cms_project.env_values import port_of

Database = dict[str, Any]
SQLITE = "django.db.backends.sqlite3"


def database_settings(url: str | None, data_dir: Path, *, has_pool: bool = True) -> Database:
    """The `default` entry of `DATABASES`: SQLite in the data folder, or what the address names.

    `has_pool` is as for `postgresql`.

    Raises `ValueError` with a sentence where the address is not one of PostgreSQL or SQLite.
    """
    if not url:
        return sqlite(data_dir / "cms.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return sqlite(Path(unquote(parts.path)[1:] or "cms.sqlite3"))
    if parts.scheme not in ("postgres", "postgresql") or len(parts.path) < 2:
        raise ValueError("it must look like postgresql://user:password@host:5432/name")
    return postgresql(url, has_pool=has_pool)


def replica_settings(url: str, database: Database, *, has_pool: bool = True) -> Database:
    """The `replica` entry of `DATABASES`, of a PostgreSQL that follows `database`. Tests read the database itself.

    Raises `ValueError` with a sentence where either is no PostgreSQL.
    """
    if database["ENGINE"] == SQLITE:
        raise ValueError("SQLite has no replicas; set DATABASE_URL to a PostgreSQL")
    if urlsplit(url).scheme not in ("postgres", "postgresql"):
        raise ValueError("it must look like postgresql://user:password@host:5432/name")
    return {**postgresql(url, has_pool=has_pool), "TEST": {"MIRROR": "default"}}


def sqlite(path: Path) -> Database:
    """WAL lets readers go on while one writes; IMMEDIATE and the time-out make writers queue up.

    Without IMMEDIATE a transaction that reads and then writes fails with "database is locked" at once.
    """
    return {
        "ENGINE": SQLITE,
        "NAME": path,
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


def postgresql(url: str, *, has_pool: bool = True) -> Database:
    """A pool of connections with prepared statements, which halve the cost of planning.

    A pool and `CONN_MAX_AGE` exclude each other. Prepared statements and cursors on the server need sessions that
    last: without `has_pool`, for a pooler in transaction mode, there are none. The time-outs say how long a server
    that does not answer keeps a caller; the address may set others.
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "proofroom.core.database.postgresql",
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", "") or parts.hostname or "",
        "PORT": str(port_of(parts) or ""),
        "CONN_MAX_AGE": 0 if has_pool else 60,
        "DISABLE_SERVER_SIDE_CURSORS": not has_pool,
        "OPTIONS": {
            "connect_timeout": 2,
            # Of what was sent and not received, in milliseconds: a machine that is gone says nothing.
            "tcp_user_timeout": 2500,
            "keepalives_idle": 10,
            "keepalives_interval": 2,
            "keepalives_count": 2,
            **options,
            **({"pool": {"max_size": 10, "timeout": 10}} if has_pool else {}),
            "server_side_binding": True,
            "prepare_threshold": 0 if has_pool else None,
        },
    }
