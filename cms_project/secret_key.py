"""The key that signs sessions: given, or made once and kept in a file that only the owner reads."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path


def secret_key(*, given: str | None, data_dir: Path, may_generate: bool) -> str:
    """The given key, else that of the file, else a new one.

    Exits with a sentence where there is none and none may be made: several machines need the same key.
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
    # Two processes may start at once: a link either makes the whole file or finds it there.
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
