"""Environments of peers, which are installed from their registries outside the lock files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class Unavailable(Exception):
    """A peer that cannot be had here, with the reason as a sentence."""


def output(
    peer: str, command: Sequence[str], *, environ: Mapping[str, str] | None = None, cwd: Path
) -> str:
    """What a command of a peer prints. Raises `Unavailable` with the end of what it says of its failure."""
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
        said = (done.stderr.strip() or done.stdout.strip())[-600:]
        raise Unavailable(f"{peer} does not start here: {said}")
    return done.stdout
