"""Secure defaults: the Content-Security-Policy, the secret key, and the permissions of the data folder.

The data folder of an embedded installation contains the database, the secret key, the log and the queue.
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final


def content_security_policy(
    *, frame_hosts: Sequence[str], image_origins: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the policy: everything from this site, plus media of a bucket and frames of allowed hosts."""
    policy = {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", *image_origins],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    if image_origins:
        policy["media-src"] = ["'self'", *image_origins]
    if frame_hosts:
        policy["frame-src"] = ["'self'", *(f"https://{host}" for host in frame_hosts)]
    return policy


def secret_key(*, given: str | None, data_dir: Path, may_generate: bool) -> str:
    """Return the given key, else the one in the file, else a new one.

    Exits with a sentence if a new key may not be made, because several machines need the same key.
    """
    path = data_dir / "secret_key"
    if given:
        return given
    if path.exists():
        return path.read_text(encoding="ascii").strip()
    if not may_generate:
        raise SystemExit(
            "SECRET_KEY is not set. With DATABASE_URL set, every process needs the same key: "
            "set SECRET_KEY or SECRET_KEY_FILE to at least 50 random characters."
        )
    data_dir.mkdir(parents=True, exist_ok=True)
    # Two processes may start at the same time. The link creates the complete file, unless it exists.
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(50))
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)
    return path.read_text(encoding="ascii").strip()


_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_FOLDERS: Final = ("logs", "queue", "queue/control")


def close_to_others(data_dir: Path, database: Path) -> None:
    """Make new files of this process readable by their owner only, and close existing files to other users."""
    os.umask(_OTHERS)
    data_dir.mkdir(parents=True, exist_ok=True)
    # A shared folder such as /tmp must stay open to its other users.
    if data_dir == Path(data_dir.anchor) or bool(data_dir.stat().st_mode & stat.S_ISVTX):
        return
    for path in (data_dir, *_files(data_dir, database)):
        # Files of other owners cannot be changed, and files of the queue may disappear meanwhile.
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
