"""Management commands run in a separate process: without a shell, with limits on time and output, and with as few
secrets as possible.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from django.conf import settings

from proofroom.core.actor import Actor
from proofroom.core.diagnostics.commands import Command, check_arguments, find_command
from proofroom.core.errors import Conflict
from proofroom.core.lane import is_lane
from proofroom.core.progress import check_cancelled
from proofroom.core.redaction import SecretRedactor

COMMAND_TIMEOUT_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.2
_BLOCK: Final = 64 * 1024
_PASSED_VARIABLES: Final = (
    *("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH"),
    *("DJANGO_SETTINGS_MODULE", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_WITH_SECRET: Final = {"MCP_AUTH_HEADER_NAME": "MCP_AUTH_HEADER_VALUE"}
"""Settings that are only valid together with a secret."""
_running: Final = Lock()


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a command. `exit_code` is None if it exceeded the time limit."""

    command: str
    arguments: Sequence[str]
    exit_code: int | None
    output: str
    left_out: int


def run_command(*, name: str, arguments: Sequence[str], actor: Actor) -> Ran:
    """Run a command of `MCP_COMMANDS`. Only one runs at a time, to limit the load.

    Raises `RuleViolation` on `command` or `args`, or `Conflict` while another one is running.
    """
    actor.require_diagnosis("settings.manage")
    command = find_command(name, settings.CMS_ENV.mcp_commands)
    checked = check_arguments(command, arguments)
    if not _running.acquire(blocking=False):
        raise Conflict("Another command is running. Try again when it has finished.", code="busy")
    try:
        with _start(command, checked) as process:
            # A character has at most four bytes in UTF-8.
            kept, size = _read_output(process, command.most * 4)
            exit_code = process.poll()
    finally:
        _running.release()
    redactor, text = SecretRedactor(), kept.decode("utf-8", "replace")
    text = redactor.known(text) if command.is_of_code else redactor.text(text)
    shown = text[: command.most]
    left_out = len(text) - len(shown) + size - len(kept)
    return Ran(name, [*arguments], exit_code, shown, left_out)


def program() -> tuple[str, ...]:
    """Return the program and the script that run commands of this site."""
    return sys.executable, str(Path(settings.BASE_DIR) / "manage.py")


@contextmanager
def _start(command: Command, arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command, and kill it and its child processes at the end of the block."""
    process = subprocess.Popen(  # noqa: S603  # our own program, a listed command, checked arguments
        [*program(), command.name, *arguments],
        cwd=settings.BASE_DIR,
        env=environment_for(command, os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # A process group, so that `killpg` reaches its children.
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # all of its processes have ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _read_output(process: subprocess.Popen[bytes], most: int) -> tuple[bytes, int]:
    """Return the beginning of the output and its whole size, read until the command ends or its time is over."""
    ends, kept, size = time.monotonic() + COMMAND_TIMEOUT_SECONDS, bytearray(), 0
    assert process.stdout is not None  # noqa: S101  # stdout is a pipe
    pipe = process.stdout.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while time.monotonic() < ends:
            check_cancelled()
            if not selector.select(_POLL_SECONDS):
                continue
            block = os.read(pipe, _BLOCK)
            if not block:
                # The command closed its output, so it ends soon; otherwise it is killed.
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, ends - time.monotonic()))
                break
            # Read on beyond the limit: a full pipe would block the command, and the whole size is
            # reported.
            size += len(block)
            kept += block[: most - len(kept)]
    return bytes(kept), size


def environment_for(command: Command, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the command: without unneeded secrets.

    The file .env is read by the command itself.
    """
    fields = type(settings.CMS_ENV).model_fields
    secrets = {name.upper() for name, field in fields.items() if field.json_schema_extra}
    plain = {name.upper() for name in fields} - secrets
    needed = secrets if command.secrets is None else command.secrets
    names = {*_PASSED_VARIABLES, *plain, *needed, *(f"{name}_FILE" for name in needed)}
    names -= {name for name, secret in _WITH_SECRET.items() if secret not in needed}
    found = {name: environ[name] for name in names if name in environ}
    lane_url = settings.CMS_ENV.lane_database_url
    if lane_url and "DATABASE_URL" in needed and is_lane():
        # Otherwise a tool would run commands with more rights than it has itself.
        found.pop("DATABASE_URL_FILE", None)
        found["DATABASE_URL"] = lane_url
    return found
