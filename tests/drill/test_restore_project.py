"""docs/how-to/back-up.md, word for word, in a new project that `./run` starts with all its processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from tests.deployment.conftest import built, wheel  # noqa: F401  # fixtures
from tests.deployment.test_own_project import Project, project  # noqa: F401  # a fixture
from tests.deployment.written import DOCS, script
from tests.drill.server import PASSWORD
from tests.drill.site_record import ADD_APP, SampleSite, Writer
from tests.ports import free_port
from tests.receiver import serving

pytestmark = pytest.mark.drill
PAGE: Final = DOCS / "how-to/back-up.md"
STARTS_WITHIN: Final = 300.0


@contextmanager
def started(made: Project, log: Path) -> Iterator[None]:
    """Run `./run` during the block, then kill it with all its processes, like a power loss."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            ["./run"], cwd=made.folder, env=made.variables, stdin=subprocess.DEVNULL, stdout=file,
            stderr=file, start_new_session=True,
        )  # fmt: skip
    try:
        until = time.monotonic() + STARTS_WITHIN
        while "Ready" not in (said := log.read_text()):
            assert process.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(0.5)
        yield
    finally:
        while running := processes_in(made.folder):
            for pid in running:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.poll()


def processes_in(folder: Path) -> list[int]:
    """Return the processes that work in the folder: those of `./run` are in groups of their own."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if link.resolve().is_relative_to(folder.resolve()):
                found.append(int(link.parent.name))
    return found


def test_a_project_reads_the_same_after_a_restore(project: Project, tmp_path: Path) -> None:  # noqa: F811
    port = free_port()
    variables = {
        **project.variables,
        "PORT": str(port),
        "MCP_PORT": str(free_port()),
        "OUTGOING_ALLOWED_HOSTS": "127.0.0.1",
        "THROTTLE_ALLOW_IPS": "127.0.0.1",
    }
    made = Project(project.folder, variables)
    sample = SampleSite(f"http://127.0.0.1:{port}", PASSWORD, has_worker=True)
    with serving() as receiver:
        with started(made, tmp_path / "first.log"):
            made.run("./run", "shell", "--no-imports", "-c", ADD_APP)
            sample.fill(receiver)
            sample.propose()
            sample.list_paths()
            before = sample.read()
            writer = Writer(sample)
            with writer.writing():
                first = len(writer.confirmed)
                made.run("/bin/sh", "-euc", script(PAGE, "## With ./run"))
        shutil.rmtree(made.folder / "var")

        restored = made.run("/bin/sh", "-euc", script(PAGE, "## With ./run", 1))
        assert "No problems found." in restored

        with started(made, tmp_path / "second.log"):
            assert sample.read() == before
            written = sample.written_titles()
            assert written == writer.confirmed[: len(written)]
            assert len(written) >= first
            sample.use_restored(receiver)
