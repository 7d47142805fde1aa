"""Files of imported content: read from a folder, or fetched through the guard for outgoing requests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from media.models import ALT_TEXT_MAX, DESCRIPTION_MAX, Asset
from media.services.files import DuplicateFile, store_image
from media.services.web_files import NoAnswer, fetch_file
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError

_MAX_FAILURES: Final = 3
"""Number of unanswered requests after which a host is skipped for the rest of the run."""


class FileProblem(Exception):
    """Raised if a file cannot be imported. The message is shown in the report."""


def path_in(address: str) -> str:
    """Return the undecoded path of a file's address; empty if it is not an address."""
    try:
        return urlsplit(address).path if "://" in address else address.split("?")[0]
    except ValueError:
        return ""


def host_of(address: str) -> str:
    """Return the host of a file's address; empty if it is not an address."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""


def file_inside(folder: Path, name: str) -> Path | None:
    """Return the file of that name below the folder, or None. Never follows links or leaves the folder."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if not parts or ".." in parts or any("\x00" in part or len(part) > 255 for part in parts):
        return None
    path = folder
    try:
        for part in parts:
            path = path / part
            # Every part is checked: a link in an unpacked archive could lead outside of the folder.
            if path.is_symlink():
                return None
        return path if path.is_file() else None
    except OSError:
        return None


def walk_files(folder: Path, limit: int) -> Iterator[Path]:
    """Yield the files below a folder, sorted by name, without links and hidden files; at most `limit`."""
    count = 0
    for root, names, files in os.walk(folder, followlinks=False):
        names[:] = sorted(
            name for name in names if not name.startswith(".") and name != "node_modules"
        )
        for name in sorted(files):
            path = Path(root) / name
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > limit:
                return
            yield path


@dataclass
class MediaFiles:
    """Finds the file of an address.

    `folders` are searched first, by every tail of the address's path: `uploads/2024/a.jpg`, `2024/a.jpg`, `a.jpg`.
    With `fetch`, missing files are fetched.
    """

    folders: tuple[Path, ...] = ()
    fetch: bool = True
    failures: Counter[str] = field(default_factory=Counter)

    def find(self, address: str) -> Path | None:
        parts = [part for part in unquote(path_in(address)).split("/") if part]
        for folder in self.folders:
            for start in range(len(parts)):
                found = file_inside(folder, "/".join(parts[start:]))
                if found is not None:
                    return found
        return None

    def can_read(self, address: str) -> bool:
        """Return whether the file exists in a folder, or may be fetched. Sends no request."""
        return self.find(address) is not None or (self.fetch and "://" in address)

    def read(self, address: str) -> tuple[str, bytes]:
        """Return the name and content of a file. Raises `FileProblem`."""
        most = settings.CMS_ENV.media_max_bytes
        path = self.find(address)
        if path is not None:
            try:
                if path.stat().st_size > most:
                    raise FileProblem(_too_large(most))
                return path.name, path.read_bytes()
            except OSError as error:
                raise FileProblem(_("The file cannot be read: %(why)s") % {"why": error}) from None
        if "://" not in address:
            raise FileProblem(_("The file is not in the folder."))
        if not self.fetch:
            raise FileProblem(_("The file is not in the folder, and fetching files is turned off."))
        return self._fetch(address)

    def _fetch(self, address: str) -> tuple[str, bytes]:
        host = host_of(address)
        if not host:
            raise FileProblem(_("The address is not valid."))
        if self.failures[host] >= _MAX_FAILURES:
            raise FileProblem(_("%(host)s did not respond earlier.") % {"host": host})
        try:
            content, _at = fetch_file(address)
        except CmsError as error:
            # Only missing answers count. A 404 is quick and says nothing about the next file of the host.
            if isinstance(error, NoAnswer):
                self.failures[host] += 1
            raise FileProblem(error.message) from None
        return unquote(path_in(address).rsplit("/", 1)[-1]) or "file", content


def _too_large(most: int) -> str:
    return _("The file is larger than %(most)s MB.") % {"most": f"{most / 1024 / 1024:g}"}


def store_file(
    files: MediaFiles,
    address: str,
    *,
    actor: Actor,
    alt_text: str = "",
    description: str = "",
    categories: Sequence[str] = (),
) -> tuple[Asset, bool]:
    """Return the library asset of a file, and whether it is new. Must not be called in a transaction.

    Raises `FileProblem`.
    """
    name, content = files.read(address)
    try:
        asset = store_image(
            file=BytesIO(content),
            filename=name,
            alt_text=" ".join(alt_text.split())[:ALT_TEXT_MAX],
            description=description[:DESCRIPTION_MAX],
            categories=categories,
            is_new_only=True,
            actor=actor,
        )
    # The same content is in the library already; share that asset.
    except DuplicateFile as error:
        return error.asset, False
    except CmsError as error:
        raise FileProblem(error.message) from None
    return asset, True
