"""Which processes connect to the database as agents: the MCP server, and workers that take only agents' work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

AGENTS_QUEUE: Final = "agents"
_QUEUES_OPTIONS: Final = ("--queues", "-Q")


def is_lane_process(argv: Sequence[str]) -> bool:
    """Return whether a process with this command line uses `LANE_DATABASE_URL`.

    A worker that takes other queues as well does not: their tasks publish, deliver and delete.
    """
    if not argv:
        return False
    if "run_mcp" in argv[1:2]:
        return True
    # `celery` is a script, or `python -m celery`.
    is_celery = any(name in ("celery", "celery.exe") for name in Path(argv[0]).parts[-2:])
    return is_celery and "worker" in argv and queues_of(argv) == {AGENTS_QUEUE}


def queues_of(argv: Sequence[str]) -> set[str]:
    """Return the queues that a worker's command line names. Empty if it names none, and so takes all."""
    found: set[str] = set()
    for place, word in enumerate(argv):
        for option in _QUEUES_OPTIONS:
            if word == option:
                named = argv[place + 1] if place + 1 < len(argv) else ""
            elif word.startswith(option) and (option == "-Q" or word.startswith(f"{option}=")):
                named = word.removeprefix(option).removeprefix("=")
            else:
                continue
            found |= {name.strip() for name in named.split(",") if name.strip()}
    return found
