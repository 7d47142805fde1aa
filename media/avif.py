"""An AVIF file without what is no picture, in place: nothing moves, so no address inside it changes.

To encode it again would take minutes and gigabytes at 50 megapixels. Raises `ValueError` where a box ends behind what
holds it; what the pictures hold is for a decoder to judge.
"""

from __future__ import annotations

from collections.abc import Iterator
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
"""What no reader looks into: a box, or an item."""
_MOST: Final = 20_000
"""Boxes and parts of items in one file; pictures have some dozens."""


@dataclass(frozen=True, slots=True)
class _Box:
    """`at` is where it begins, `body` what is in it, up to `end`."""

    kind: bytes
    at: int
    body: int
    end: int


@dataclass(slots=True)
class _File:
    content: bytearray
    data: list[tuple[int, int]] = field(default_factory=list)
    """Where data may lie."""
    hidden: list[tuple[int, int]] = field(default_factory=list)
    """What is to be nothing but zeros."""
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
        """Part of an item, which lies in one of these spans; without a length it goes to its end."""
        for begin, end in spans:
            if begin <= place and place + long <= end:
                self.hidden.append((place, place + long if long else end))
                return
        raise ValueError("an item lies outside the data")


def without_data(content: bytes) -> bytes:
    """The file with zeros where a camera's data, places, previews and other boxes were."""
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
    for begin, end in sorted(file.hidden):  # they may overlap: each byte is written once
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
    previews = {id_ for box in inside if box.kind == b"iref" for id_ in _previews(file, box)}
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


def _previews(file: _File, iref: _Box) -> Iterator[int]:
    size = 4 if file.number(iref.body, 1, iref.end) else 2
    for box in file.boxes(iref.body + 4, iref.end):
        if box.kind == b"thmb":
            yield file.number(box.body, size, box.end)


def _drop_items(file: _File, iinf: _Box, previews: set[int]) -> set[int]:
    """The items that are no picture are of no type any more, and no item has a name."""
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
    """What the dropped items hold, wherever it lies in the file, becomes zeros."""
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
