"""The archive file: a ZIP with reproducible bytes. The reader treats it as untrusted.

media/<SHA-256>       each file once
<kind>.jsonl          one row per line, in canonical JSON
manifest.json         format, counts and checksums; written last
"""

from __future__ import annotations

import hashlib
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader, RawIOBase
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import orjson
from django.conf import settings
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, ValidationError

from proofroom.core.errors import CmsError
from proofroom.core.json import Json, sorted_json
from proofroom.version import product_version

FORMAT: Final = "proofroom-archive"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
# Limits against archives that are made to exhaust memory, disk or CPU ("ZIP bombs").
MAX_ENTRIES: Final = 2_000_000
MAX_MANIFEST: Final = 1024 * 1024
MAX_ROW: Final = 32 * 1024 * 1024
MAX_RATIO: Final = 400
"""Largest ratio of a rows file's size to its compressed size. JSON of real content stays below 50."""
# Small files may have any ratio: a short text of repetitions compresses well, and does no harm.
_RATIO_MIN_SIZE: Final = 1024 * 1024
_CHUNK: Final = 1024 * 1024
_ROWS_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,40}\.jsonl")
_MEDIA_NAME: Final = re.compile(r"media/[0-9a-f]{64}")
# The earliest time a ZIP entry can have.
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""Modification time of every entry. It is fixed so that the bytes do not depend on the time of the export."""


class ArchiveError(CmsError):
    """The file is not an archive, or this installation cannot read it."""

    status = 422
    code = "archive"


class RowsSummary(BaseModel):
    """The manifest's entry for the rows of one kind."""

    model_config = ConfigDict(extra="forbid", strict=True)

    rows: int
    size: int
    sha256: str


class ArchiveManifest(BaseModel):
    """The manifest of an archive."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    version: int
    product: str
    revisions: bool
    media: int
    files: dict[str, RowsSummary]


class ArchiveWriter:
    """Writes an archive to a seekable file. Memory use does not depend on the amount of content."""

    def __init__(self, target: IO[bytes]) -> None:
        self._zip = ZipFile(target, "w")
        self._media: set[bytes] = set()
        self._rows: dict[str, RowsSummary] = {}

    def add_media(self, content: bytes) -> str:
        """Add a file unless the archive already has it. Return its SHA-256."""
        digest = hashlib.sha256(content)
        if digest.digest() not in self._media:
            self._media.add(digest.digest())
            entry = _entry(f"media/{digest.hexdigest()}", ZIP_STORED)
            # Most media files are compressed already.
            entry.file_size = len(content)
            self._zip.writestr(entry, content)
        return digest.hexdigest()

    def add_rows(self, name: str, rows: Iterable[Json]) -> int:
        """Add the rows of a kind. Return their number. The iterator may call `add_media`."""
        digest, count, size = hashlib.sha256(), 0, 0
        # A ZIP has only one open entry at a time, and rows add media while they are read.
        with TemporaryFile() as spooled:
            for row in rows:
                line = sorted_json(row) + b"\n"
                digest.update(line)
                spooled.write(line)
                count, size = count + 1, size + len(line)
            spooled.seek(0)
            entry = _entry(f"{name}.jsonl", ZIP_DEFLATED)
            entry.file_size = size
            with self._zip.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(spooled, target, _CHUNK)
        self._rows[f"{name}.jsonl"] = RowsSummary(rows=count, size=size, sha256=digest.hexdigest())
        return count

    def discard(self) -> None:
        """Close the file after an error. Its content is not a valid archive."""
        self._zip.close()

    def close(self, *, revisions: bool) -> ArchiveManifest:
        """Write the manifest and close the file."""
        manifest = ArchiveManifest(
            format=FORMAT,
            version=FORMAT_VERSION,
            product=product_version(),
            revisions=revisions,
            media=len(self._media),
            files=self._rows,
        )
        self._zip.writestr(_entry(MANIFEST, ZIP_DEFLATED), sorted_json(manifest.model_dump()))
        self._zip.close()
        return manifest


def _entry(name: str, compression: int) -> ZipInfo:
    entry = ZipInfo(name, _EPOCH)
    entry.compress_type = compression
    entry.create_system = 3  # Unix; the default depends on the operating system
    entry.external_attr = 0o644 << 16
    return entry


class ArchiveReader:
    """Reads an archive. It extracts nothing to disk and uses no name in the archive as a path."""

    def __init__(self, source: Path | IO[bytes]) -> None:
        try:
            self._zip = ZipFile(source)
        except (BadZipFile, OSError, ValueError) as error:
            raise ArchiveError(
                _("This is not an archive: it cannot be read as a ZIP file.")
            ) from error
        self._entries = self._read_entries()
        self.manifest = self._read_manifest()

    def __enter__(self) -> ArchiveReader:
        return self

    def __exit__(self, *unused: object) -> None:
        self._zip.close()

    def _read_entries(self) -> dict[str, ZipInfo]:
        listed = self._zip.infolist()
        if len(listed) > MAX_ENTRIES:
            raise ArchiveError(_("The archive has too many files."))
        found: dict[str, ZipInfo] = {}
        for entry in listed:
            name = entry.filename
            where = {"name": name[:100]}
            is_media = _MEDIA_NAME.fullmatch(name) is not None
            if name != MANIFEST and not is_media and not _ROWS_NAME.fullmatch(name):
                raise ArchiveError(_("The archive contains an unexpected file: %(name)r.") % where)
            if name in found:
                raise ArchiveError(_("The archive contains %(name)r twice.") % where)
            if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise ArchiveError(
                    _("%(name)r is encrypted or uses an unsupported compression method.") % where
                )
            most = settings.CMS_ENV.media_max_bytes if is_media else MAX_MANIFEST
            if (is_media or name == MANIFEST) and entry.file_size > most:
                raise ArchiveError(
                    _("%(name)r is too large: at most %(most)s MB are allowed.")
                    % {**where, "most": f"{most / 1024 / 1024:g}"}
                )
            if entry.file_size > max(_RATIO_MIN_SIZE, MAX_RATIO * entry.compress_size):
                raise ArchiveError(_("The compression ratio of %(name)r is too high.") % where)
            found[name] = entry
        return found

    def _read_manifest(self) -> ArchiveManifest:
        if MANIFEST not in self._entries:
            raise ArchiveError(_("This is not a Proofroom archive: it has no manifest."))
        try:
            data = orjson.loads(self._read(MANIFEST))
            is_ours = isinstance(data, dict) and data.get("format") == FORMAT
            # bool is a subclass of int, and `true` must not pass as version 1.
            if is_ours and type(data.get("version")) is not int:
                raise ArchiveError(
                    _(
                        "The format version in the manifest must be a whole number, such as %(known)s, and is "
                        "%(version)s. Export the archive again."
                    )
                    % {"known": FORMAT_VERSION, "version": _json(data.get("version"))}
                )
            if is_ours and data["version"] != FORMAT_VERSION:
                raise ArchiveError(
                    _(
                        "The archive has the format version %(version)s; this installation reads "
                        "version %(known)s. Update the older of the two installations."
                    )
                    % {"version": str(data.get("version"))[:20], "known": FORMAT_VERSION}
                )
            manifest = ArchiveManifest.model_validate(data)
        except (orjson.JSONDecodeError, ValidationError) as error:
            raise ArchiveError(_("The manifest of the archive is damaged.")) from error
        if not is_ours:
            raise ArchiveError(_("This is not a Proofroom archive."))
        rows = {name for name in self._entries if _ROWS_NAME.fullmatch(name)}
        if rows != set(manifest.files):
            different = ", ".join(sorted(rows ^ set(manifest.files)))[:200]
            raise ArchiveError(
                _("The manifest and the files of the archive do not match: %(names)s.")
                % {"names": different}
            )
        return manifest

    def _read(self, name: str) -> bytes:
        with self._open(name) as source:
            return self._take(source, self._entries[name].file_size + 1)

    def _open(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(self._entries[name])
        except (BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise _damaged(name) from error

    def _take(self, source: IO[bytes], size: int) -> bytes:
        try:
            return source.read(size)
        except (BadZipFile, zlib.error, EOFError, OSError) as error:
            raise _damaged(str(getattr(source, "name", ""))) from error

    def verify(self, watch: Callable[[], None] | None = None) -> None:
        """Read the whole archive once and compare checksums, sizes and counts. Raises `ArchiveError`.

        `watch` is called during the work; it can stop it by raising.
        """
        for name, summary in self.manifest.files.items():
            digest, size, lines = hashlib.sha256(), 0, 0
            with self._open(name) as source:
                while chunk := self._take(source, _CHUNK):
                    if watch is not None:
                        watch()
                    digest.update(chunk)
                    size, lines = size + len(chunk), lines + chunk.count(b"\n")
            if (digest.hexdigest(), size, lines) != (summary.sha256, summary.size, summary.rows):
                raise _damaged(name)
        media = [name for name in self._entries if _MEDIA_NAME.fullmatch(name)]
        if len(media) != self.manifest.media:
            raise ArchiveError(
                _("The archive does not contain as many files as its manifest lists.")
            )
        for name in media:
            if watch is not None:
                watch()
            self.read_media(name.removeprefix("media/"))

    def has_media(self, digest: str) -> bool:
        return f"media/{digest}" in self._entries

    def read_media(self, digest: str) -> bytes:
        """Return the content of a file. Raises `ArchiveError` if it is missing or damaged."""
        name = f"media/{digest}"
        if name not in self._entries:
            raise ArchiveError(
                _("The file %(name)s is missing from the archive.") % {"name": name[:80]}
            )
        content = self._read(name)
        if hashlib.sha256(content).hexdigest() != digest:
            raise _damaged(name)
        return content

    def lines(self, kind: str) -> Iterator[bytes]:
        """Yield the raw lines of a kind; none if the archive has no such rows."""
        name = f"{kind}.jsonl"
        if name not in self._entries:
            return
        # `ZipExtFile.readline` joins lines from 4 KB pieces; a larger buffer reads them at once.
        with BufferedReader(cast("RawIOBase", self._open(name)), _CHUNK) as source:
            while True:
                try:
                    line = source.readline(MAX_ROW + 1)
                except (BadZipFile, zlib.error, EOFError, OSError) as error:
                    raise _damaged(name) from error
                if not line:
                    return
                if len(line) > MAX_ROW:
                    raise ArchiveError(_("A row of %(name)s is too long.") % {"name": name})
                yield line


def _json(value: Json) -> str:
    return _("missing") if value is None else sorted_json(value).decode()[:40]


def _damaged(name: str) -> ArchiveError:
    return ArchiveError(
        _("The archive is damaged: the checksum of %(name)s does not match.") % {"name": name[:80]}
    )
