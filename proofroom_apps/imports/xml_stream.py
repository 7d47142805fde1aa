"""Streaming parser for XML of other systems: repairs what browsers accept, refuses entity declarations."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO, Final
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse
from django.utils.translation import gettext as _

from proofroom.core.errors import RuleViolation

MAX_BYTES: Final = 2 * 1024 * 1024 * 1024
_BLOCK: Final = 256 * 1024
_DECLARATION: Final = re.compile(
    rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"'][^>]*\?>"
)
_HEAD: Final = re.compile(r"^\s*<\?xml[^>]*\?>")
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_BAD_REFERENCE: Final = re.compile(
    r"&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|[xX]0*(?:[0-8bBcCeEfF]|1[0-9a-fA-F]));"
)
_WINDOWS: Final = {
    code: char for code in range(0x80, 0xA0) if (char := bytes([code]).decode("cp1252", "ignore"))
}
"""Windows-1252 characters for C1 control codes, which browsers show instead and databases contain."""
_WARNINGS: Final = 10_000
_WAITING: Final = re.compile(r"&[#\w]{0,12}$")


def open_xml(file: IO[bytes]) -> Iterator[tuple[str, Element]]:
    """Yield start and end of elements. Raises `ParseError`, or `RuleViolation` for entities and oversized files."""
    try:
        yield from iterparse(_Repaired(file), events=("start", "end"), forbid_entities=True)
    except DefusedXmlException:
        raise RuleViolation(
            _("The file defines its own XML entities, which is not supported."),
            code="forbidden_xml",
        ) from None


class _Repaired:
    """The file in UTF-8 from any encoding, without characters that XML forbids."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        first = file.read(_BLOCK)
        named = _DECLARATION.match(first.removeprefix(codecs.BOM_UTF8))
        encoding = "utf-8-sig"
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            encoding = "utf-16"
        elif named is not None and named[1].lower() not in (b"utf-8", b"utf8"):
            encoding = _encoding_of(named[1].decode("ascii"))
        self.decoder = codecs.getincrementaldecoder(encoding)("replace")
        self.total = 0
        self.waiting = ""
        self.is_over = False
        text = self._decode(first).lstrip("\ufeff \t\r\n")
        # Broken PHP sites print warnings before the XML.
        text = text[max(0, text.find("<?xml", 0, _WARNINGS)) :]
        # The parser gets UTF-8, so the encoding in the declaration is no longer true.
        self.ready = _HEAD.sub("", text, count=1).encode()

    def read(self, size: int = -1) -> bytes:
        while not self.ready and not self.is_over:
            self.ready = self._decode(self.file.read(_BLOCK)).encode()
        size = len(self.ready) if size < 0 else size
        part, self.ready = self.ready[:size], self.ready[size:]
        return part

    def _decode(self, block: bytes) -> str:
        self.total += len(block)
        if self.total > MAX_BYTES:
            raise RuleViolation(
                _("The file is larger than %(most)s GB.") % {"most": MAX_BYTES // 1024**3}
            )
        self.is_over = not block
        text = self.waiting + self.decoder.decode(block, self.is_over)
        # A reference such as `&nbsp;` may be cut by the end of a block.
        cut = _WAITING.search(text) if not self.is_over else None
        self.waiting = text[cut.start() :] if cut else ""
        text = text[: cut.start()] if cut else text
        return (
            _BAD_REFERENCE.sub(" ", _CONTROLS.sub(" ", text))
            .translate(_WINDOWS)
            # An entity of HTML that XML does not have.
            .replace("&nbsp;", "&#160;")
        )


def _encoding_of(name: str) -> str:
    """Return the text encoding of that name; UTF-8 if it is unknown or not a text encoding."""
    try:
        is_text = codecs.getincrementaldecoder(name)("replace").decode(b"<") == "<"
    except (LookupError, ValueError, TypeError, AssertionError):
        is_text = False
    return name if is_text else "utf-8-sig"
