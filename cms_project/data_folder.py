"""The data folder of the embedded default, which nobody else on the machine reads.

It holds the database, the key that signs sessions, the log and the queue.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_FOLDERS: Final = ("logs", "queue", "queue/control")


def close_to_others(data_dir: Path, database: Path) -> None:
    """Have this process make files that only their owner reads, and close what an earlier version left open."""
    os.umask(_OTHERS)
    data_dir.mkdir(parents=True, exist_ok=True)
    if data_dir == Path(data_dir.anchor) or bool(data_dir.stat().st_mode & stat.S_ISVTX):
        return
    for path in (data_dir, *_files(data_dir, database)):
        # Somebody else's file is theirs to close, and a file of the queue may be taken meanwhile.
        with suppress(OSError):
            mode = path.stat().st_mode
            if mode & _OTHERS:
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)


def _files(data_dir: Path, database: Path) -> Iterator[Path]:
    yield from (Path(f"{database}{suffix}") for suffix in ("", "-wal", "-shm", "-journal"))
    yield data_dir / "secret_key"
    yield from data_dir.glob("beat-schedule*")
    for name in _FOLDERS:
        folder = data_dir / name
        yield folder
        yield from (path for path in folder.glob("*") if path.is_file())
