"""Copies an image file without metadata: camera data, location, comments, previews and appended data.

The encoded pixels are copied unchanged, so there is no loss of quality. Raises `ValueError` if the file is
truncated; the content is checked by a decoder.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_TOP: Final = frozenset({b"ftyp", b"meta", b"moov", b"mdat"})
_IN_META: Final = frozenset(
    {b"hdlr", b"pitm", b"iloc", b"iinf", b"iprp", b"iref", b"idat", b"grpl", b"dinf"}
)
_TRACKS: Final = frozenset({b"moov", b"trak", b"mdia", b"minf", b"stbl"})
_NOT_IN_TRACKS: Final = frozenset({b"udta", b"uuid", b"free", b"skip"})
_PICTURES: Final = frozenset({b"av01", b"grid", b"iden", b"tmap", b"sato"})
_UNREAD: Final = b"free"
"""The type of boxes and items that readers ignore."""
_MOST: Final = 20_000
"""Maximum number of boxes and item parts in one file. Images have some dozens; the limit stops crafted files."""


@dataclass(frozen=True, slots=True)
class _Box:
    """A box of the file: its start `at`, its content from `body` to `end`."""

    kind: bytes
    at: int
    body: int
    end: int


@dataclass(slots=True)
class _File:
    content: bytearray
    data: list[tuple[int, int]] = field(default_factory=list)
    """Spans that may contain item data."""
    hidden: list[tuple[int, int]] = field(default_factory=list)
    """Spans to overwrite with zeros."""
    parts: int = 0

    def count(self) -> None:
        self.parts += 1
        if self.parts > _MOST:
            raise ValueError("too many parts")

    def number(self, at: int, size: int, end: int) -> int:
        if at + size > end:
            raise ValueError("a box ends too early")
        return int.from_bytes(self.content[at : at + size], "big")

    def boxes(self, at: int, end: int) -> Iterator[_Box]:
        while at < end:
            length, kind = self.number(at, 4, end), bytes(self.content[at + 4 : at + 8])
            body = at + 8
            # ISO/IEC 14496-12: length 1 means that a 64-bit length follows, length 0 that the box extends to
            # the end.
            if length == 1:
                length, body = self.number(body, 8, end), body + 8
            stop = at + length if length else end
            if not body <= stop <= end:
                raise ValueError("a box ends behind what holds it")
            self.count()
            yield _Box(kind, at, body, stop)
            at = stop

    def drop(self, box: _Box) -> None:
        self.content[box.at + 4 : box.at + 8] = _UNREAD
        self.hidden.append((box.body, box.end))

    def hide(self, place: int, long: int, spans: list[tuple[int, int]]) -> None:
        """Mark a part of an item for zeroing. It must be inside one of the spans; length 0 means up to the end."""
        for begin, end in spans:
            if begin <= place and place + long <= end:
                self.hidden.append((place, place + long if long else end))
                return
        raise ValueError("an item lies outside the data")


def zero_avif_metadata(content: bytes) -> bytes:
    """Return the file with zeros in place of camera data, locations, previews and other boxes.

    Nothing is removed, because the file refers to its data by absolute offsets.
    """
    file = _File(bytearray(content))
    top = list(file.boxes(0, len(content)))
    file.data = [(box.body, box.end) for box in top if box.kind == b"mdat"]
    for box in top:
        if box.kind not in _TOP:
            file.drop(box)
        elif box.kind == b"meta":
            _clear_meta(file, box)
        elif box.kind == b"moov":
            _clear_tracks(file, box)
    done = 0
    for begin, end in sorted(file.hidden):  # spans may overlap; each byte is written once
        begin = max(begin, done)
        if begin < end:
            file.content[begin:end] = bytes(end - begin)
            done = end
    return bytes(file.content)


def _clear_tracks(file: _File, holder: _Box) -> None:
    for box in file.boxes(holder.body, holder.end):
        if box.kind in _NOT_IN_TRACKS:
            file.drop(box)
        elif box.kind == b"meta":
            _clear_meta(file, box)
        elif box.kind in _TRACKS:
            _clear_tracks(file, box)


def _clear_meta(file: _File, meta: _Box) -> None:
    inside = list(file.boxes(meta.body + 4, meta.end))
    # A thumbnail reference points from a preview to its image.
    previews: set[int] = set()
    for iref in (box for box in inside if box.kind == b"iref"):
        size = 4 if file.number(iref.body, 1, iref.end) else 2
        for box in file.boxes(iref.body + 4, iref.end):
            if box.kind == b"thmb":
                previews.add(file.number(box.body, size, box.end))
    dropped: set[int] = set()
    for box in inside:
        if box.kind not in _IN_META:
            file.drop(box)
        elif box.kind == b"iinf":
            dropped |= _drop_items(file, box, previews)
    near = [(box.body, box.end) for box in inside if box.kind == b"idat"]
    for box in inside:
        if box.kind == b"iloc":
            _hide_items(file, box, dropped, near)


def _drop_items(file: _File, iinf: _Box, previews: set[int]) -> set[int]:
    """Set the type of items that aren't pictures to `free`, and clear the names of all items. Return the
    dropped ids."""
    dropped = set()
    head = 8 if file.number(iinf.body, 1, iinf.end) else 6
    for box in file.boxes(iinf.body + head, iinf.end):
        size = {2: 2, 3: 4}.get(file.number(box.body, 1, box.end))
        if box.kind != b"infe" or size is None:
            raise ValueError("an item of an unknown form")
        id_ = file.number(box.body + 4, size, box.end)
        at = body = box.body + 4 + size + 2
        file.number(at, 4, box.end)
        if bytes(file.content[at : at + 4]) not in _PICTURES or id_ in previews:
            file.content[at : at + 4] = _UNREAD
            dropped.add(id_)
        file.hidden.append((body + 4, box.end))
    return dropped


def _hide_items(file: _File, iloc: _Box, dropped: set[int], near: list[tuple[int, int]]) -> None:
    """Mark the data of the dropped items for zeroing, wherever it is in the file."""
    version, at, end = file.number(iloc.body, 1, iloc.end), iloc.body + 4, iloc.end
    sizes = file.number(at, 2, end)
    offset, length, base, index = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
    wide = 4 if version == 2 else 2
    count, at = file.number(at + 2, wide, end), at + 2 + wide
    for _ in range(count):
        id_, at = file.number(at, wide, end), at + wide
        is_near = False
        if version:
            is_near, at = file.number(at, 2, end) & 15 == 1, at + 2
        begin, at = file.number(at + 2, base, end), at + 2 + base
        extents, at = file.number(at, 2, end), at + 2
        for _ in range(extents):
            file.count()
            at += index if version else 0
            place = begin + file.number(at, offset, end)
            long = file.number(at + offset, length, end)
            at += offset + length
            if id_ in dropped:
                start = near[0][0] if is_near and near else 0
                file.hide(start + place, long, near if is_near else file.data)


_PNG_HEAD: Final = b"\x89PNG\r\n\x1a\n"
# The critical chunks, transparency, and the chunks of APNG.
_PNG_KEPT: Final = frozenset(
    {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"acTL", b"fcTL", b"fdAT"}
)
# All chunks except colour profile, EXIF, XMP and unknown ones.
_WEBP_KEPT: Final = frozenset({b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF"})
_WEBP_FRAME: Final = frozenset({b"VP8 ", b"VP8L", b"ALPH"})
_WEBP_METADATA: Final = 0x20 | 0x08 | 0x04
"""Flags for a colour profile, EXIF and XMP."""
_JPEG_MARK: Final = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
"""A marker that ends the data of a scan: 0xFF with 0x00 or a restart marker is part of the data."""
# Frame headers, coding tables, scans, quantization tables, line counts and restart intervals.
_JPEG_KEPT: Final = frozenset({*range(0xC0, 0xC8), *range(0xC9, 0xD0), 0xDA, 0xDB, 0xDC, 0xDD})


class _Reader:
    """Reads bytes from the front."""

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
            out.append(mark + length + body)  # specifies how colours are stored
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
        # Includes the checksum after the data.
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
        # RIFF chunks are padded to an even length.
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
    # Signature and logical screen descriptor.
    head = reader.take(13)
    out += [head, reader.take(_gif_colours(head[10]))]
    control = b""
    # A file may lack the trailer if it ends between two blocks.
    while (kind := reader.content[reader.at : reader.at + 1] or b";") != b";":
        reader.at += 1
        if kind == b",":
            place = reader.take(9)
            out += [control, kind, place, reader.take(_gif_colours(place[8])), reader.take(1)]
            out += [_gif_blocks(reader)]
            control = b""
        elif kind == b"!":
            label, blocks = reader.take(1), _gif_blocks(reader)
            # A graphic control extension applies to the next image.
            if label == b"\xf9":
                control = kind + label + blocks
            elif label == b"\xff" and blocks.startswith(b"\x0bNETSCAPE2.0"):
                out.append(kind + label + blocks)  # the number of repetitions
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
    "AVIF": zero_avif_metadata,
}
"""Functions by name of the format."""
