"""Django's database settings from a URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from cms_project.env_values import port_of

Database = dict[str, Any]
SQLITE = "django.db.backends.sqlite3"
LANE_ROLE = "proofroom_lane"


def database_settings(url: str | None, data_dir: Path, *, has_pool: bool = True) -> Database:
    """Return the `default` entry of `DATABASES`: SQLite in the data folder, or the database of the URL.

    `has_pool`: as in `postgresql`.

    Raises `ValueError` with a sentence unless the URL is of PostgreSQL or SQLite.
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
    """Return the `replica` entry of `DATABASES`, for a PostgreSQL replica of `database`. Tests use the database
    itself.

    Raises `ValueError` with a sentence if either is not PostgreSQL.
    """
    if database["ENGINE"] == SQLITE:
        raise ValueError("SQLite has no replicas; set DATABASE_URL to a PostgreSQL")
    if urlsplit(url).scheme not in ("postgres", "postgresql"):
        raise ValueError("it must look like postgresql://user:password@host:5432/name")
    return {**postgresql(url, has_pool=has_pool), "TEST": {"MIRROR": "default"}}


def lane_settings(url: str, database: Database, *, has_pool: bool = True) -> Database:
    """Return the `default` entry of `DATABASES` for the processes of agents and AI clients.

    Raises `ValueError` with a sentence unless `database` is PostgreSQL and the URL names the role of agents.
    """
    if database["ENGINE"] == SQLITE:
        raise ValueError("SQLite has no roles; set DATABASE_URL to a PostgreSQL")
    if urlsplit(url).scheme not in ("postgres", "postgresql"):
        raise ValueError("it must look like postgresql://proofroom_lane:password@host:5432/name")
    settings = postgresql(url, has_pool=has_pool)
    if settings["USER"] != LANE_ROLE:
        raise ValueError(f"its user must be {LANE_ROLE}, the role that install_lane creates")
    return settings


def sqlite(path: Path) -> Database:
    """Return the settings for SQLite."""
    # WAL lets readers continue during a write. IMMEDIATE and the timeout make writers wait for each other. Without
    # IMMEDIATE, a transaction that reads before it writes fails with "database is locked" without waiting.
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
    """Return the settings for PostgreSQL. The URL's query can override the timeouts.

    `has_pool`: False behind a pooler in transaction mode. Then there is no pool, and no prepared statements and
    server-side cursors, which need lasting sessions.
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
        # Django refuses a pool together with persistent connections.
        "CONN_MAX_AGE": 0 if has_pool else 60,
        "DISABLE_SERVER_SIDE_CURSORS": not has_pool,
        "OPTIONS": {
            # The timeouts limit how long a server that does not answer blocks a caller.
            "connect_timeout": 2,
            # Milliseconds for unacknowledged data. A machine that is gone sends no reset.
            "tcp_user_timeout": 2500,
            "keepalives_idle": 10,
            "keepalives_interval": 2,
            "keepalives_count": 2,
            **options,
            **({"pool": {"max_size": 10, "timeout": 10}} if has_pool else {}),
            # Needed for prepared statements, which halve the cost of planning.
            "server_side_binding": True,
            "prepare_threshold": 0 if has_pool else None,
        },
    }
