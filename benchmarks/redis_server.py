"""The Redis of a run: the one of `REDIS_URL`, or one started for the run."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.postgres import free_port


@contextmanager
def redis_for_run() -> Iterator[None]:
    """Set `REDIS_URL` to a Redis for the block. Raises `SystemExit` with a sentence if there is none."""
    if os.environ.get("REDIS_URL"):
        yield
        return
    program = shutil.which("redis-server")
    if program is None:
        raise SystemExit(
            "This part needs Redis: set REDIS_URL to one whose content nobody needs, or install a "
            "server (on Debian: apt-get install redis-server)."
        )
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="cms-benchmark-") as folder:
        command = [
            program,
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            folder,
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            _wait_for(process, port)
            os.environ["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
            yield
        finally:
            os.environ["REDIS_URL"] = ""
            process.send_signal(signal.SIGTERM)
            process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit("Redis did not start.")
