"""With PgBouncer in transaction mode: `doctor` detects it, and the site works without its own pool."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.commands import run_command
from tests.ports import free_port

pytestmark = pytest.mark.skipif(
    not os.environ.get("DATABASE_URL") or shutil.which("pgbouncer") is None,
    reason="needs DATABASE_URL and PgBouncer",
)


@pytest.fixture
def pooled(tmp_path: Path) -> Iterator[str]:
    """Yield the URL of an empty database behind a pooler in transaction mode."""
    server = urlsplit(os.environ["DATABASE_URL"])
    name = f"pooled_{os.getpid()}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    port = free_port()
    settings = tmp_path / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n{name} = host={server.hostname} port={server.port or 5432} user={server.username}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        "auth_type = any\npool_mode = transaction\nignore_startup_parameters = extra_float_digits\n"
    )
    # It refuses to run as root, and reads its settings as the account that it becomes.
    tmp_path.chmod(0o755)
    account = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = subprocess.Popen(
        ["pgbouncer", "-q", *account, str(settings)], stderr=subprocess.PIPE, text=True
    )
    try:
        address = f"postgresql://{server.username}@127.0.0.1:{port}/{name}"
        for _ in range(100):
            try:
                psycopg.connect(address).close()
                break
            except psycopg.OperationalError:
                assert process.poll() is None, process.stderr and process.stderr.read()
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(10)
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def manage(address: str, folder: Path, *words: str, **variables: str) -> str:
    done = run_command(
        [sys.executable, "manage.py", *words],
        env={
            **os.environ,
            "DATABASE_URL": address,
            "CMS_DATA_DIR": str(folder),
            "SECRET_KEY": "k" * 60,
            **variables,
        },
        timeout=300,
    )
    return done.stdout + done.stderr


def test_doctor_sees_it_and_without_a_pool_all_works(pooled: str, tmp_path: Path) -> None:
    manage(pooled, tmp_path, "migrate", DATABASE_POOL="0")
    said = manage(pooled, tmp_path, "doctor")
    assert "set DATABASE_POOL=0" in said

    said = manage(pooled, tmp_path, "doctor", DATABASE_POOL="0")
    assert "pooler" not in said
    assert "all applied" in said
    asked = manage(
        pooled, tmp_path, "shell", "-c",
        "from django.contrib.auth import get_user_model; from django.test import Client; c = Client(); "
        "c.force_login(get_user_model().objects.create_superuser('admin@example.com', 'secret')); "
        "print([c.get('/api/posts').status_code for _ in range(3)])",
        DATABASE_POOL="0", ALLOWED_HOSTS="testserver",
    )  # fmt: skip
    assert "[200, 200, 200]" in asked
