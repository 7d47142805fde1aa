"""The file of an image without what is no picture: cameras' data, places, comments, previews, whatever is appended.

The pixels are copied as they are, so nothing is lost and nothing is encoded. Raises `ValueError` where the file ends
before the image does; what it holds is for a decoder to judge.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from typing import Final

from media import avif

_PNG_HEAD: Final = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT: Final = frozenset(
    {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"acTL", b"fcTL", b"fdAT"}
)
_WEBP_KEPT: Final = frozenset({b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF"})
_WEBP_FRAME: Final = frozenset({b"VP8 ", b"VP8L", b"ALPH"})
_WEBP_METADATA: Final = 0x20 | 0x08 | 0x04
"""The flags of a profile, of a camera's data and of XMP."""
_JPEG_MARK: Final = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
"""What ends the data of a scan."""
_JPEG_KEPT: Final = frozenset({*range(0xC0, 0xC8), *range(0xC9, 0xD0), 0xDA, 0xDB, 0xDC, 0xDD})


class _Reader:
    """Bytes taken from the front."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self.content = content
        self.at = at

    def take(self, number: int) -> bytes:
        found = self.content[self.at : self.at + number]
        if len(found) != number:
            raise ValueError("the file ends too early")
        self.at += number
        return found


def _jpeg(content: bytes) -> bytes:
    reader, out = _Reader(content), [b"\xff\xd8"]
    if reader.take(2) != out[0]:
        raise ValueError("no JPEG")
    while True:
        while (mark := reader.take(2)) == b"\xff\xff":
            reader.at -= 1  # padding
        if mark[0] != 0xFF:
            raise ValueError("no mark where one should be")
        if mark[1] == 0xD9:
            return b"".join([*out, mark])
        length = reader.take(2)
        body = reader.take(struct.unpack(">H", length)[0] - 2)
        if mark[1] in _JPEG_KEPT:
            out.append(mark + length + body)
        elif mark[1] == 0xE0 and body.startswith(b"JFIF\x00") and len(body) >= 12:
            out.append(mark + b"\x00\x10" + body[:12] + b"\x00\x00")  # without the preview
        elif mark[1] == 0xEE and body.startswith(b"Adobe") and len(body) == 12:
            out.append(mark + length + body)  # says how colours are stored
        if mark[1] == 0xDA:
            end = _JPEG_MARK.search(content, reader.at)
            if end is None:
                raise ValueError("the file ends too early")
            out.append(content[reader.at : end.start()])
            reader.at = end.start()


def _png(content: bytes) -> bytes:
    reader, out = _Reader(content), [_PNG_HEAD]
    if reader.take(8) != _PNG_HEAD:
        raise ValueError("no PNG")
    while True:
        head = reader.take(8)
        length, kind = struct.unpack(">I4s", head)
        body = reader.take(length + 4)
        if kind in _PNG_KEPT:
            out.append(head + body)
        if kind == b"IEND":
            return b"".join(out)


def _webp(content: bytes) -> bytes:
    head, length, kind = struct.unpack(">4s4s4s", _Reader(content).take(12))
    if head != b"RIFF" or kind != b"WEBP":
        raise ValueError("no WebP")
    whole = _Reader(content).take(8 + int.from_bytes(length, "little"))
    body = b"".join(_webp_chunks(whole, 12, _WEBP_KEPT))
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def _webp_chunks(content: bytes, at: int, kept: frozenset[bytes]) -> list[bytes]:
    reader, out = _Reader(content, at), []
    while reader.at < len(content):
        kind, length = struct.unpack("<4sI", reader.take(8))
        body = reader.take(length)
        reader.at += length % 2
        if kind not in kept:
            continue
        if kind == b"VP8X":
            body = bytes([body[0] & ~_WEBP_METADATA]) + body[1:]
        elif kind == b"ANMF":
            body = body[:16] + b"".join(_webp_chunks(body, 16, _WEBP_FRAME))
        out.append(struct.pack("<4sI", kind, len(body)) + body + b"\x00" * (len(body) % 2))
    return out


def _gif(content: bytes) -> bytes:
    reader, out = _Reader(content), []
    head = reader.take(13)
    out += [head, reader.take(_gif_colours(head[10]))]
    control = b""
    while (kind := reader.take(1)) != b";":
        if kind == b",":
            place = reader.take(9)
            out += [control, kind, place, reader.take(_gif_colours(place[8])), reader.take(1)]
            out += [_gif_blocks(reader)]
            control = b""
        elif kind == b"!":
            label, blocks = reader.take(1), _gif_blocks(reader)
            if label == b"\xf9":
                control = kind + label + blocks
            elif label == b"\xff" and blocks.startswith(b"\x0bNETSCAPE2.0"):
                out.append(kind + label + blocks)  # how often it is repeated
        else:
            raise ValueError("no block where one should be")
    return b"".join([*out, kind])


def _gif_colours(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _gif_blocks(reader: _Reader) -> bytes:
    begin = reader.at
    while length := reader.take(1)[0]:
        reader.take(length)
    return reader.content[begin : reader.at]


COPIERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "JPEG": _jpeg,
    "PNG": _png,
    "WEBP": _webp,
    "GIF": _gif,
    "AVIF": avif.without_data,
}
"""By the name of the format."""
