"""A separate PostgreSQL server that a test starts and stops."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest

from tests.ports import free_port

Way = Literal["fast", "immediate"]


def binaries() -> Path:
    """Return Debian's folder of the newest server; skip the test without one."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4])
    )
    if not found:
        pytest.skip("needs the programs of a PostgreSQL server")
    return found[-1].parent


class OwnPostgresql:
    """Listens on a port of this machine, as the current user, or as `postgres` for root."""

    def __init__(self, folder: Path, leader: OwnPostgresql | None = None) -> None:
        """Create a new server, or a replica that streams from `leader`."""
        self.bin = binaries()
        self.data = folder / ("data" if leader is None else "replica")
        self.data.mkdir(mode=0o700)
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        if os.getuid() == 0:
            subprocess.run(["chown", "postgres", self.data], check=True)
        if leader is None:
            self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                      "--locale=C.UTF-8", "--no-sync")  # fmt: skip
        else:
            self._run("pg_basebackup", "-D", self.data, "-d", leader.url, "-R", "-X", "stream",
                      "--checkpoint=fast", "--no-sync")  # fmt: skip

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k '' -c fsync=off -c full_page_writes=off"
        self._run("pg_ctl", "-D", self.data, "-w", "-l", self.data / "log", "-o", options, "start")

    def stop(self, way: Way = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", way, "stop")

    def restart(self, way: Way = "fast") -> None:
        self.stop(way)
        self.start()

    def kill(self) -> None:
        """End all its processes at once, like a loss of the machine."""
        processes = self._processes()
        for process in processes:
            os.kill(process, signal.SIGKILL)
        while any(map(_runs, processes)):
            time.sleep(0.01)
        (self.data / "postmaster.pid").unlink()

    def promote(self) -> None:
        """Make this replica a primary."""
        self._run("pg_ctl", "-D", self.data, "-w", "promote")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop all its processes in the block, while its kernel still accepts data."""
        processes = self._processes()
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    def _processes(self) -> list[int]:
        first = int((self.data / "postmaster.pid").read_text().split()[0])
        below = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, below)]

    def _run(self, name: str, *arguments: str | Path) -> None:
        command = [str(self.bin / name), *map(str, arguments)]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
        # To a file, because the server would keep a pipe open that its reader waits for.
        with (self.data.parent / "output").open("w+") as output:
            done = subprocess.run(command, cwd="/", stdout=output, stderr=output, timeout=60)
            output.seek(0)
            assert done.returncode == 0, (command, output.read())


def _runs(process: int) -> bool:
    try:
        # A killed process stays as a zombie until its parent collects it.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def own_postgresql() -> Iterator[OwnPostgresql]:
    """Yield a started server, stopped at the end of the block."""
    with own_servers() as (server, _):
        yield server


@contextmanager
def own_servers(*, replica: bool = False) -> Iterator[tuple[OwnPostgresql, OwnPostgresql | None]]:
    """Yield a started server with an optional replica; both are stopped at the end of the block."""
    # Folders of tests are private, also for the account that the server runs as.
    with TemporaryDirectory(prefix="cms-postgresql-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        servers = [OwnPostgresql(folder)]
        try:
            servers[0].start()
            if replica:
                servers.append(OwnPostgresql(folder, servers[0]))
                servers[1].start()
            yield servers[0], servers[1] if replica else None
        finally:
            for server in reversed(servers):
                if (server.data / "postmaster.pid").exists():
                    server.stop("immediate")
