"""The measured servers, and the CPU time of their processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.postgres import free_port

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """Return the user and system time of the process and its descendants."""
        return sum(cpu_seconds(pid) for pid in processes_below(self.pid))


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of one process."""
    # Schedstat has nanoseconds. Ticks of 10 ms would be too coarse for short runs.
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in threads) / 1e9
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return _ticks(pid) / _TICKS


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(fields[11]) + int(fields[12])


def processes_below(root: int) -> list[int]:
    """Return the process and its descendants."""
    found = [root]
    for pid in found:
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


@contextmanager
def product(environ: Mapping[str, str], workers: int) -> Iterator[Server]:
    """Run the complete product, as docs/reference/processes.md does."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1",
        "--port", str(port), "--workers", str(workers), "--blocking-threads", "1",
        "--log-level", "warning", "cms_project.wsgi:application",
    ]  # fmt: skip
    with running("product", command, port, environ, "/health") as server:
        yield server


@contextmanager
def floor(environ: Mapping[str, str], workers: int) -> Iterator[Server]:
    port = free_port()
    command = [
        sys.executable, "-m", "uvicorn", "benchmarks.floor:app", "--host", "127.0.0.1",
        "--port", str(port), "--workers", str(workers), "--log-level", "warning",
        "--no-access-log",
    ]  # fmt: skip
    with running("floor", command, port, environ, "/live") as server:
        yield server


@contextmanager
def bare_site() -> Iterator[Server]:
    """Run Django alone, under the product's server."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1",
        "--port", str(port), "--workers", "1", "--blocking-threads", "1",
        "--log-level", "warning", "benchmarks.bare_site:application",
    ]  # fmt: skip
    with running("bare site", command, port, {}, "/health") as server:
        yield server


@contextmanager
def whole_site() -> Iterator[Server]:
    """Run all that `./run` starts. Yield when the site and the MCP server answer."""
    port, mcp_port = free_port(), free_port()
    environ = {
        "PORT": str(port), "MCP_PORT": str(mcp_port), "SITE_URL": f"http://127.0.0.1:{port}",
    }  # fmt: skip
    command = [sys.executable, "manage.py", "demo"]
    with _started(command, environ) as process:
        for answering in (port, mcp_port):
            _wait_for(process, f"http://127.0.0.1:{answering}/health")
        yield Server("whole site", port, process.pid)


@contextmanager
def receiver() -> Iterator[Server]:
    """Run the receiver of webhook calls."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.receiver", str(port)]
    with running("receiver", command, port, {}, "/seen") as server:
        yield server


@contextmanager
def model() -> Iterator[Server]:
    """Run the model for agents."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.model", str(port)]
    with running("model", command, port, {}, "/") as server:
        yield server


@contextmanager
def mcp(environ: Mapping[str, str]) -> Iterator[Server]:
    """Run the product's MCP server."""
    port = free_port()
    command = [sys.executable, "manage.py", "run_mcp", "--port", str(port)]
    with running("mcp", command, port, environ, "/health") as server:
        yield server


@contextmanager
def mcp_floor() -> Iterator[Server]:
    port = free_port()
    command = [
        sys.executable, "-m", "uvicorn", "benchmarks.mcp_floor:app", "--host", "127.0.0.1",
        "--port", str(port), "--log-level", "warning", "--no-access-log",
    ]  # fmt: skip
    with running("mcp floor", command, port, {}, "/health") as server:
        yield server


@contextmanager
def worker() -> Iterator[Server]:
    """Run worker and scheduler, as docs/reference/processes.md does. Only the worker's CPU time counts."""
    celery = [sys.executable, "-m", "celery", "--quiet", "-A", "cms_project"]
    pool = ["worker", "--pool", "threads", "--concurrency", "4", "--loglevel", "ERROR"]
    with _started([*celery, *pool], {}) as process, _started([*celery, "beat"], {}):
        yield Server("worker", 0, process.pid)


@contextmanager
def running(
    name: str,
    command: list[str],
    port: int,
    environ: Mapping[str, str],
    path: str,
    folder: Path | None = None,
) -> Iterator[Server]:
    with _started(command, environ, folder) as process:
        _wait_for(process, f"http://127.0.0.1:{port}{path}")
        yield Server(name, port, process.pid)


@contextmanager
def _started(
    command: list[str], environ: Mapping[str, str], folder: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "ignore", **environ},
        stdout=subprocess.DEVNULL,
        # Its own process group, so that children can be terminated with it.
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=30).close()  # noqa: S310  # a server of ours
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"A server did not start: {url}")
