"""Databases of the benchmarks, on the PostgreSQL of `DATABASE_URL` or on a server started for the run."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg

_DEBIAN = Path("/usr/lib/postgresql")
TEMPLATE: Final = "BENCHMARK_TEMPLATE"
"""Variable with the name of a migrated database, for runs of many parts."""


@contextmanager
def database() -> Iterator[str]:
    """Yield the URL of an empty database, or of a copy of the database named by `TEMPLATE`. It is dropped at the
    end.

    Raises `SystemExit` with a sentence if there is no PostgreSQL.
    """
    with server() as address, _own_database(address, os.environ.get(TEMPLATE, "")) as url:
        yield url


@contextmanager
def server() -> Iterator[str]:
    """Yield the URL of the server of `DATABASE_URL`, or of one started for the run."""
    given = os.environ.get("DATABASE_URL", "")
    if not given:
        with _server() as started:
            yield started
        return
    if urlsplit(given).scheme not in ("postgres", "postgresql"):
        raise SystemExit("The benchmarks measure PostgreSQL; DATABASE_URL names something else.")
    yield given


@contextmanager
def another_database(url: str, name: str) -> Iterator[str]:
    """Yield the URL of an empty database on the server of `url`. It is dropped at the end."""
    with _own_database(url, "", f"cms_benchmark_{name}_{os.getpid()}") as address:
        yield address


@contextmanager
def copy_of(url: str, name: str) -> Iterator[str]:
    """Yield the URL of a copy, which is dropped at the end. Connections to the original are closed."""
    # PostgreSQL cannot copy a database with open connections.
    original = urlsplit(url).path.strip("/")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    server = urlunsplit(urlsplit(url)._replace(path="/postgres"))
    with _own_database(server, original, f"cms_benchmark_{name}_{os.getpid()}") as address:
        yield address


@contextmanager
def _own_database(server: str, template: str, name: str = "") -> Iterator[str]:
    name = name or f"cms_benchmark_{os.getpid()}"
    copied = f' TEMPLATE "{template}"' if template else ""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"{copied}'.encode())
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            # Connections of the run can still be open.
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@contextmanager
def _server() -> Iterator[str]:
    binaries = _binaries()
    folder = Path(tempfile.mkdtemp(prefix="cms-benchmark-"))
    # `mkdtemp` allows only this user, but PostgreSQL may run as another one.
    folder.chmod(0o755)
    data, port = folder / "data", free_port()
    data.mkdir()
    user = "postgres" if os.getuid() == 0 else None  # PostgreSQL refuses to run as root
    if user is not None:
        os.chown(data, pwd.getpwnam(user).pw_uid, -1)

    def run(program: str, *arguments: str) -> None:
        command = [str(binaries / program), "-D", str(data), *arguments]
        # The other user may have no access to the current folder.
        subprocess.run(command, user=user, cwd="/", check=True, stdout=subprocess.DEVNULL)

    try:
        run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        listening = f"-h 127.0.0.1 -p {port} -k '' -c shared_buffers=256MB -c max_wal_size=4GB"
        run("pg_ctl", "-w", "-l", str(data / "log"), "-o", listening, "start")
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            # The data is deleted next, so a clean shutdown would waste time.
            run("pg_ctl", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path:
    found = [path for path in _DEBIAN.glob("*/bin") if (path / "initdb").exists()]
    if found:
        return max(found, key=lambda path: float(path.parent.name))
    on_path = shutil.which("initdb")
    if on_path is None:
        raise SystemExit(
            "The benchmarks need PostgreSQL: set DATABASE_URL to a server where databases may be "
            "made, or install one (on Debian: apt-get install postgresql)."
        )
    return Path(on_path).resolve().parent


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def describe() -> str:
    """Return the version of the measured PostgreSQL."""
    with server() as address, psycopg.connect(address) as connection:
        major, minor = divmod(connection.info.server_version, 10_000)
    return f"PostgreSQL {major}.{minor}"
