"""Run a command and read its output."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


def run_command(
    words: Sequence[str | Path],
    *,
    cwd: str | Path = ROOT,
    env: Mapping[str, str] | None = None,
    input: str | None = None,
    check: bool = False,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run a command in the project's folder and return its result, with both outputs as text."""
    return subprocess.run(
        words,
        cwd=cwd,
        env=env,
        input=input,
        capture_output=True,
        text=True,
        check=check,
        timeout=timeout,
    )
