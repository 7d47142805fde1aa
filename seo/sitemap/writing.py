"""The sitemap as XML, in parts that the protocol allows, each packed while it is written."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Final

MOST_URLS: Final = 50_000
MOST_BYTES: Final = 50 * 1024 * 1024
_XML: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMES: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_HEAD: Final = (
    f'{_XML}<urlset xmlns="{_NAMES}" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'.encode()
)
_FOOT: Final = b"</urlset>\n"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one part may hold."""

    urls: int = MOST_URLS
    size: int = MOST_BYTES


@dataclass(frozen=True, slots=True)
class Document:
    """A file of the sitemap, packed; `digest` is of its words."""

    packed: bytes
    digest: str
    urls: int
    size: int
    """In bytes, unpacked."""


class _Writer:
    """One file that is being written."""

    def __init__(self) -> None:
        self._file = BytesIO()
        # Without the time in it, so that the same words make the same bytes.
        self._packer = gzip.GzipFile(fileobj=self._file, mode="wb", mtime=0, compresslevel=6)
        self._hash = hashlib.sha256()
        self.urls = self.size = 0

    def write(self, text: bytes) -> None:
        self._packer.write(text)
        self._hash.update(text)
        self.size += len(text)

    def done(self) -> Document:
        self._packer.close()
        return Document(self._file.getvalue(), self._hash.hexdigest()[:24], self.urls, self.size)


def parts_of(entries: Iterable[str], limits: Limits) -> Iterator[Document]:
    """The entries in as few files as hold them, one after the other; one without entries where there are none."""
    writer = _begun()
    for entry in entries:
        text = entry.encode()
        if not text:
            continue
        is_full = writer.size + len(text) + len(_FOOT) > limits.size
        if writer.urls and (is_full or writer.urls >= limits.urls):
            yield _ended(writer)
            writer = _begun()
        writer.write(text)
        writer.urls += 1
    yield _ended(writer)


def index_of(addresses: Iterable[str], moment: str) -> Document:
    """The file that names the parts."""
    writer = _Writer()
    writer.write(f'{_XML}<sitemapindex xmlns="{_NAMES}">\n'.encode())
    for address in addresses:
        line = f"<sitemap><loc>{address}</loc><lastmod>{moment}</lastmod></sitemap>\n"
        writer.write(line.encode())
    writer.write(b"</sitemapindex>\n")
    return writer.done()


def _begun() -> _Writer:
    writer = _Writer()
    writer.write(_HEAD)
    return writer


def _ended(writer: _Writer) -> Document:
    writer.write(_FOOT)
    return writer.done()
