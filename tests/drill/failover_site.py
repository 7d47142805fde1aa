"""The site of docs/how-to/prepare-for-a-failover.md on one machine, with the documented PgBouncer and nginx."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.commands import run_command
from tests.deployment.site import HOST, SECRETS, answers, self_signed, until
from tests.deployment.written import DOCS, ROOT, blocks, nginx, procfile
from tests.faults.postgresql import OwnPostgresql, own_postgresql, own_servers
from tests.ports import free_port

PAGES: Final = ("prepare-for-a-failover.md", "cache-in-nginx.md")
PRIMARY, STANDBY = "10.0.0.21", "10.0.0.22"
"""The servers in the examples of the pages."""
WEB_PORTS: Final = (8000, 8010, 8020)
"""The web processes in the examples of the pages."""
DATABASE: Final = "proofroom"
STARTS_WITHIN, MIGRATES_WITHIN = 300.0, 900.0


def documented(language: str, first_words: str) -> str:
    """Return the example of the pages that contains these words."""
    pages = [DOCS / "how-to" / name for name in PAGES]
    (found,) = [one for page in pages for one in blocks(page, language) if first_words in one]
    return found


@dataclass
class Site:
    """The processes by name, and the two servers of PostgreSQL behind them."""

    folder: Path
    primary: OwnPostgresql
    standby: OwnPostgresql
    environ: dict[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    commands: dict[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return f"https://127.0.0.1:{self.ports['nginx']}"

    @property
    def pgbouncer_ini(self) -> Path:
        """In a folder that PgBouncer's account may read."""
        return self.standby.data.parent / "pgbouncer.ini"

    @property
    def web(self) -> dict[str, str]:
        """The addresses of the web processes."""
        return {name: f"http://127.0.0.1:{self.ports[name]}" for name in ("web", "web-2", "web-3")}

    def start(self, name: str) -> None:
        command, variables = self.commands[name]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"], cwd=ROOT, env={**self.environ, **variables},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def revive(self) -> None:
        """Restart what ended by itself, like a supervisor: a worker may end when Redis goes away."""
        for name, process in list(self.running.items()):
            if process.poll() is not None:
                self.start(name)

    def kill(self, name: str) -> None:
        """Kill a process with its children."""
        process = self.running.pop(name)
        assert process.poll() is None, f"{name} ended by itself:\n{self.log(name)}"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)

    def stop(self) -> None:
        for process in self.running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def wait_for_web(self, name: str) -> None:
        address = f"{self.web[name]}/health"
        until(f"an answer of {name}", lambda: answers(address), STARTS_WITHIN)

    def manage(self, *words: str) -> str:
        """Return the output of a command of the site."""
        done = run_command(
            [sys.executable, "manage.py", *words], env=self.environ, timeout=STARTS_WITHIN
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, script: str) -> Any:
        """Return the last line of a script's output in the site's shell, as JSON."""
        return json.loads(self.manage("shell", "--no-imports", "-c", script).splitlines()[-1])

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Return rows of the server that takes writes now."""
        with psycopg.connect(self._url(self.primary), autocommit=True) as connection:
            return connection.execute(text.encode()).fetchall()

    def require_remote_apply(self) -> None:
        """Set what the page says for the primary, and wait until it waits for the standby."""
        for line in documented("ini", "postgresql.conf").splitlines()[1:]:
            self._set(self.primary, line)
        until(
            "synchronous replication",
            lambda: self.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"),
        )

    def part(self) -> None:
        """Part the standby from the primary, which continues."""
        self._set(self.standby, "primary_conninfo = 'host=127.0.0.1 port=1'")
        until("the parting", lambda: not self.query("SELECT 1 FROM pg_stat_replication"))

    def fail_over(self) -> None:
        """Promote the standby, and lead PgBouncer to it, as the page says."""
        self.standby.promote()
        self.primary = self.standby
        self._write_pgbouncer()
        os.killpg(self.running["pgbouncer"].pid, signal.SIGHUP)  # as `systemctl reload` does

    def _set(self, server: OwnPostgresql, setting: str) -> None:
        name, _, value = setting.partition(" = ")
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET {name} = {value}".encode())
            connection.execute("SELECT pg_reload_conf()")

    def _url(self, server: OwnPostgresql) -> str:
        return f"postgresql://postgres@127.0.0.1:{server.port}/{DATABASE}"

    def _write_pgbouncer(self) -> None:
        text = documented("ini", "pgbouncer.ini")
        for written, server in ((PRIMARY, self.primary), (STANDBY, self.standby)):
            assert f"host={written} port=5432" in text
            text = text.replace(
                f"host={written} port=5432", f"host=127.0.0.1 port={server.port} user=postgres"
            )
        text = text.replace("listen_port = 6432", f"listen_port = {self.ports['pgbouncer']}")
        # The servers of this test trust everybody on this machine.
        text = re.sub(r"auth_type = .*\nauth_file = .*\n", "auth_type = any\n", text)
        self.pgbouncer_ini.write_text(f"{text}unix_socket_dir =\n")
        self.pgbouncer_ini.chmod(0o644)

    def _write_nginx(self) -> None:
        used = {
            8000: self.ports["web"], 8001: self.ports["sockets"], 8787: self.ports["mcp"],
            8010: self.ports["web-2"], 8020: self.ports["web-3"],
        }  # fmt: skip
        plain = {written: used[written] for written in (8000, 8001, 8787)}
        text = nginx(self.ports["nginx"], plain, self_signed(self.folder), self.folder)
        head, location = documented("nginx", "upstream web"), documented("nginx", "location /")
        for written in WEB_PORTS:
            head = head.replace(f"127.0.0.1:{written};", f"127.0.0.1:{used[written]};")
        head = head.replace("/var/cache/nginx/proofroom", f"{self.folder}/cache")
        text = text.replace("access_log off;\n", f"access_log off;\n{head}", 1)
        text, count = re.subn(r"(?ms)^    location / \{\n.*?^    \}\n", location, text, count=1)
        assert count == 1
        (self.folder / "nginx.conf").write_text(text)


def dump_migrated_database(file: Path) -> None:
    """Migrate an empty database and write it to a file."""
    with own_postgresql() as server:
        done = run_command(
            [sys.executable, "manage.py", "migrate", "--verbosity=0"],
            env={**os.environ, "DATABASE_URL": server.url, "SECRET_KEY": SECRETS["SECRET_KEY"]},
            timeout=MIGRATES_WITHIN,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        subprocess.run(
            [server.bin / "pg_dump", "--format=custom", f"--file={file}", server.url],
            check=True,
            timeout=STARTS_WITHIN,
        )


@contextmanager
def prepared(folder: Path, dump: Path, *, has_replica: bool, **variables: str) -> Iterator[Site]:
    """Yield the site with the database of the dump. Its Redis and PgBouncer run."""
    with ExitStack() as stack:
        primary, standby = stack.enter_context(own_servers(replica=True))
        assert standby is not None
        site = Site(folder, primary, standby)
        with psycopg.connect(primary.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}".encode())
        subprocess.run(
            [primary.bin / "pg_restore", "--dbname", site._url(primary), dump],
            check=True,
            timeout=STARTS_WITHIN,
        )
        stack.callback(site.stop)
        _describe(site, has_replica, variables)
        for name in ("redis", "pgbouncer"):
            site.start(name)
        yield site


def _describe(site: Site, has_replica: bool, variables: Mapping[str, str]) -> None:
    names = ("web", "web-2", "web-3", "sockets", "mcp", "nginx", "pgbouncer", "redis")
    site.ports = {name: free_port() for name in names}
    site.folder.chmod(0o755)
    pooler = f"postgresql://postgres@127.0.0.1:{site.ports['pgbouncer']}"
    site.environ = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "DJANGO_SETTINGS_MODULE": "cms_project.settings",
        "CMS_DATA_DIR": str(site.folder / "data"),
        "DATABASE_URL": f"{pooler}/{DATABASE}",
        "DATABASE_POOL": "0",
        "REDIS_URL": f"redis://127.0.0.1:{site.ports['redis']}/0",
        "SITE_URL": f"https://{HOST}",
        "TRUSTED_PROXIES": "1",
        "THROTTLE_ALLOW_IPS": "127.0.0.1",
        **SECRETS,
        **variables,
    }
    if has_replica:
        site.environ["DATABASE_REPLICA_URL"] = f"{pooler}/{DATABASE}_replica"
    site._write_pgbouncer()
    site._write_nginx()
    programs = procfile()
    web = programs["web"].replace("--workers 2", "--workers 1")
    assert web != programs["web"]
    worker = programs["worker"]
    assert "celery,deliveries" in worker
    account = "-u nobody " if os.geteuid() == 0 else ""
    site.commands = {
        "redis": (
            f"redis-server --port {site.ports['redis']} --bind 127.0.0.1 --save '' --dir {site.folder}",
            {},
        ),
        "pgbouncer": (f"pgbouncer {account}{site.pgbouncer_ini}", {}),
        "nginx": (f"/usr/sbin/nginx -e stderr -c {site.folder}/nginx.conf", {}),
        **{name: (web, {"PORT": str(site.ports[name])}) for name in site.web},
        "sockets": (programs["sockets"], {"SOCKETS_PORT": str(site.ports["sockets"])}),
        "events": (worker.replace("celery,deliveries", "celery"), {}),
        "deliveries": (
            worker.replace("celery,deliveries", "deliveries --hostname deliveries@%h"), {},
        ),
        "agents": (programs["agents"], {}),
        "beat": (programs["beat"], {}),
    }  # fmt: skip


PYTHON: Final = ("web", "web-2", "web-3", "sockets", "events", "deliveries", "agents", "beat")
