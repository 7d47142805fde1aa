"""A site on its own PostgreSQL and Redis, as an operator has it, and its folder with `manage.py`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg

from tests.drill.site_record import ADD_APP, SampleSite
from tests.faults.postgresql import OwnPostgresql, own_postgresql
from tests.faults.processes import ROOT, Site
from tests.receiver import Receiver

PASSWORD: Final = "demo-password"  # of the sample content
PROCESSES: Final = ("web", "worker", "mcp")
LINKED: Final = ("run", "manage.py", ".venv", "requirements.lock", "requirements-dev.lock")


class Server:
    """`folder` has the program; beside it are `backup` and `data`. `site` has the processes."""

    def __init__(self, home: Path, postgresql: OwnPostgresql) -> None:
        self.home = home
        self.postgresql = postgresql
        self.folder, self.data = home / "proofroom", home / "data"
        self.folder.mkdir()
        self.data.mkdir()
        for name in LINKED:
            (self.folder / name).symlink_to(ROOT / name)
        self.create_database()
        # An account without the rights of a superuser, as in production.
        url = postgresql.url.replace("postgres@", "cms@").replace("/postgres", "/cms")
        self.site = Site(home, url, OUTGOING_ALLOWED_HOSTS="127.0.0.1")
        self.site.environ |= {
            "DJANGO_SETTINGS_MODULE": "cms_project.settings",
            "CMS_DATA_DIR": str(self.data),
            "PORT": str(self.site.port),
            "MCP_PORT": str(self.site.mcp_port),
            "PATH": f"{Path(sys.executable).parent}:{self.site.environ['PATH']}",
        }
        self.sample = SampleSite(f"http://127.0.0.1:{self.site.port}", PASSWORD, has_worker=True)

    def create_database(self) -> None:
        """Create the account and an empty database in place of an existing one."""
        with psycopg.connect(self.postgresql.url, autocommit=True) as server:
            if not server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'cms'").fetchone():
                server.execute("CREATE ROLE cms LOGIN CREATEDB")
            server.execute("DROP DATABASE IF EXISTS cms WITH (FORCE)")
            server.execute("CREATE DATABASE cms OWNER cms")

    def run(self, script: str, **environ: str) -> str:
        """Return the output of commands, which must succeed, in the folder of the program."""
        done = subprocess.run(
            ["/bin/sh", "-euc", script],
            cwd=self.folder,
            env={**self.site.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}"
        return done.stdout

    def prepare(self) -> None:
        """Create the tables and the sample content."""
        self.run("python manage.py migrate --verbosity=0 && python manage.py seed")
        self.run('python manage.py shell --no-imports -c "$SCRIPT"', SCRIPT=ADD_APP)

    def start(self) -> None:
        """Start the processes that do not run."""
        for name in ("redis", *PROCESSES):
            if name not in self.site.running:
                self.site.start(name)
        self.site.wait_for_web()
        self.site.wait_for_mcp()

    def kill(self) -> None:
        for name in PROCESSES:
            self.site.kill(name)

    def doctor(self) -> set[str]:
        """Return the subjects that the doctor does not find right."""
        said = self.run("python manage.py doctor || true")
        assert "  database: " in said, said
        return set(re.findall(r"(?m)^(?:warn|fail) +(.+?): ", said))

    def destroy_data(self) -> None:
        shutil.rmtree(self.data)
        self.data.mkdir()


@contextmanager
def filled_server(home: Path, receiver: Receiver) -> Iterator[Server]:
    """Yield a running site with sample content."""
    with own_postgresql() as postgresql:
        server = Server(home, postgresql)
        try:
            server.site.start("redis")
            server.prepare()
            server.start()
            server.sample.fill(receiver)
            yield server
        finally:
            server.site.stop()
