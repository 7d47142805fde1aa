"""Uploaded archives: unpacks them into a folder. No entry can write outside of it."""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import zipfile
import zlib
from pathlib import Path
from typing import Final

from django.utils.translation import gettext as _

from proofroom.core.errors import RuleViolation

MAX_FILES: Final = 20_000
MAX_BYTES: Final = 2 * 1024 * 1024 * 1024
"""Maximum size of all files together, unpacked, in bytes."""
MAX_DEPTH: Final = 30
"""Maximum number of parts of a name. A short name could otherwise create thousands of folders."""
_DAMAGED: Final = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""Exceptions that Python's ZIP reader raises for a damaged file."""


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a ZIP archive into a new folder. Raises `RuleViolation`. Symbolic links are left out."""
    folder.mkdir()
    total = 0
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = opened.infolist()
            if len(entries) > MAX_FILES:
                raise _refused(
                    _("The archive has more than %(most)s files.") % {"most": f"{MAX_FILES:,}"}
                )
            for entry in entries:
                # Entry names are untrusted: `..`, absolute paths, drive letters and links could lead outside of the
                # folder.
                parts = [part for part in entry.filename.replace("\\", "/").split("/") if part]
                mode = entry.external_attr >> 16
                is_odd = (
                    ".." in parts or entry.filename.startswith("/") or ":" in "".join(parts[:1])
                )
                if (
                    not 1 <= len(parts) <= MAX_DEPTH
                    or is_odd
                    or stat.S_ISLNK(mode)
                    or any(len(part) > 200 for part in parts)
                ):
                    continue
                target = folder.joinpath(*parts)
                if entry.is_dir():
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(entry) as source, target.open("wb") as file:
                    while block := source.read(1024 * 1024):
                        total += len(block)
                        # Count the unpacked bytes: the sizes in a ZIP file may be false (zip bomb).
                        if total > MAX_BYTES:
                            raise _refused(_("The archive is too large when it is unpacked."))
                        file.write(block)
                    # A power cut must not leave an empty file in a folder that later turns of the run read.
                    file.flush()
                    os.fsync(file.fileno())
    except _DAMAGED as error:
        shutil.rmtree(folder, ignore_errors=True)
        # The operating system's message would reveal folders of this machine.
        why = error.strerror if isinstance(error, OSError) else error
        raise _refused(_("The archive cannot be read: %(why)s") % {"why": why}) from None


def content_folder(folder: Path) -> Path:
    """Return the folder with the content of an archive that was unpacked into `folder`."""
    # macOS adds hidden files and a folder `__MACOSX` to its archives.
    inside = [path for path in folder.iterdir() if not path.name.startswith((".", "__MACOSX"))]
    # Most archives hold one folder, which is the content.
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _refused(message: str) -> RuleViolation:
    return RuleViolation(message, details={"file": [message]})
