"""Environments of peers, installed from their registries without the lock files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class Unavailable(Exception):
    """The peer cannot be installed or started here. The message is a sentence."""


def output(
    peer: str, command: Sequence[str], *, environ: Mapping[str, str] | None = None, cwd: Path
) -> str:
    """Return the output of a peer's command. Raises `Unavailable` with the end of its error output."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **(environ or {})},
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise Unavailable(f"{peer} does not install here: {error}") from None
    if done.returncode:
        error_output = (done.stderr.strip() or done.stdout.strip())[-600:]
        raise Unavailable(f"{peer} does not start here: {error_output}")
    return done.stdout
