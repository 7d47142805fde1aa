"""Types of files that visitors may send, recognised by their content."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Final


@dataclass(frozen=True, slots=True)
class FileKind:
    """A type of file with its name for people and its usual endings."""

    label: str
    endings: tuple[str, ...]


_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT: Final = "application/vnd.oasis.opendocument"
FILE_KINDS: Final[dict[str, FileKind]] = {
    "application/pdf": FileKind("PDF", (".pdf",)),
    "image/jpeg": FileKind("JPEG", (".jpg", ".jpeg")),
    "image/png": FileKind("PNG", (".png",)),
    "image/webp": FileKind("WebP", (".webp",)),
    "image/gif": FileKind("GIF", (".gif",)),
    f"{_OFFICE}.wordprocessingml.document": FileKind("Word", (".docx",)),
    f"{_OFFICE}.spreadsheetml.sheet": FileKind("Excel", (".xlsx",)),
    f"{_OFFICE}.presentationml.presentation": FileKind("PowerPoint", (".pptx",)),
    f"{_OPEN_DOCUMENT}.text": FileKind("OpenDocument text", (".odt",)),
    f"{_OPEN_DOCUMENT}.spreadsheet": FileKind("OpenDocument spreadsheet", (".ods",)),
    "text/plain": FileKind("Text", (".txt", ".md", ".log")),
    "text/csv": FileKind("CSV", (".csv",)),
}
"""By media type. HTML, SVG, scripts, programs and archives are not among them."""
_SIGNATURES: Final[tuple[tuple[str, re.Pattern[bytes]], ...]] = (
    ("application/pdf", re.compile(rb"%PDF-\d")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
    ("image/gif", re.compile(rb"GIF8[79]a")),
)
_OFFICE_PARTS: Final = {
    "word/document.xml": f"{_OFFICE}.wordprocessingml.document",
    "xl/workbook.xml": f"{_OFFICE}.spreadsheetml.sheet",
    "ppt/presentation.xml": f"{_OFFICE}.presentationml.presentation",
}
_MAX_ARCHIVE_NAMES: Final = 10_000
_ZIP_ERRORS: Final = (
    *(zipfile.BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError),
    *(OverflowError, struct.error, ValueError),
)
"""What `zipfile` raises for crafted archives."""
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_MARKUP: Final = re.compile(rb"<[!?a-z/]", re.IGNORECASE)
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TEXT_TYPES: Final = ("text/plain", "text/csv")


def expand_types(accept: Sequence[str] | None) -> tuple[str, ...]:
    """Return the media types of an `accept` list: types, endings and `image/*`. All types for None."""
    if accept is None:
        return tuple(FILE_KINDS)
    return tuple(
        name
        for name, kind in FILE_KINDS.items()
        if any(_covers(one.lower(), name, kind) for one in accept)
    )


def is_known_type(name: str) -> bool:
    """Return whether the entry of an `accept` list names at least one type."""
    return bool(expand_types([name]))


def _covers(entry: str, name: str, kind: FileKind) -> bool:
    if entry.endswith("/*"):
        return name.startswith(entry[:-1])
    return entry == name or entry in kind.endings


def find_file_type(file: IO[bytes], filename: str) -> str | None:
    """Return the media type by the content, or None for an unknown one. The name only tells CSV from text."""
    file.seek(0)
    head = file.read(64)
    for name, pattern in _SIGNATURES:
        if pattern.match(head):
            return name
    if head.startswith(b"PK\x03\x04"):
        return _find_office_type(file)
    file.seek(0)
    content = file.read()
    # A browser may take a text that begins like HTML, XML or SVG for a page.
    # Stripped instead of matched: a pattern with two runs of spaces takes minutes for a megabyte of them.
    begin = content.lstrip().removeprefix(_BYTE_ORDER_MARK).lstrip()
    if not begin or _BINARY.search(content) or _MARKUP.match(begin):
        return None
    return _TEXT_TYPES[filename.lower().endswith(".csv")]


def _find_office_type(file: IO[bytes]) -> str | None:
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()[:_MAX_ARCHIVE_NAMES]
            # Documents with macros are programs.
            if any(name.lower().endswith("vbaproject.bin") for name in names):
                return None
            for part, found in _OFFICE_PARTS.items():
                if part in names and "[Content_Types].xml" in names:
                    return found
            info = archive.getinfo("mimetype")
            # The format demands it uncompressed. The size that an archive names says nothing about what a
            # compressed part unpacks to.
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size > 100:
                return None
            kind = archive.read(info).decode("ascii", "replace")
            return kind if kind in FILE_KINDS and kind.startswith(_OPEN_DOCUMENT) else None
    except _ZIP_ERRORS:
        return None


_UNSAFE: Final = re.compile(r"[^\w .,()+@-]")
_MAX_NAME: Final = 120


def clean_filename(name: str, media_type: str) -> str:
    """Return a name that is safe in headers and on disks, with an ending of the type."""
    name = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    endings = FILE_KINDS[media_type].endings
    if not dot or f".{ending.lower()}" not in endings:
        stem, ending = name, endings[0][1:]
    stem = " ".join(_UNSAFE.sub("_", stem).split()).strip(". ")[:_MAX_NAME]
    return f"{stem or 'file'}.{ending.lower()}"
