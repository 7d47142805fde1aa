"""Video and audio files: recognized by their content, without metadata, with duration and size.

MP4 and WebM, MP3, Ogg and WAV are read by their structure only; nothing is decoded. Raises `ValueError` for a file
that is truncated or contradicts itself. Works on bytes in memory, without storage and database.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

_MAX_PARTS: Final = 200_000
"""Maximum number of boxes, elements or pages. The limit stops crafted files; an hour of Ogg has some 20,000."""
_HEAD: Final = 64


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording. `duration` is in seconds, None if the file doesn't tell it. Videos have a size in pixels."""

    content: bytes
    mime: str
    suffix: str
    duration: float | None = None
    width: int | None = None
    height: int | None = None


class UnplayableFormat(ValueError):
    """The container is known, but browsers don't play its content. The message names the format."""


def looks_like_recording(head: bytes) -> bool:
    """Return whether a file may be a recording, by its first bytes."""
    return _reader_of(head) is not None


def read_recording(content: bytes) -> Recording | None:
    """Return the recording, or None for other files."""
    read = _reader_of(content[:_HEAD])
    if read is None:
        return None
    try:
        found = read(content)
    except (struct.error, IndexError, OverflowError, ZeroDivisionError) as error:
        raise ValueError("the file ends too early") from error
    is_plausible = found.duration is not None and 0 < found.duration < 10 * 24 * 3600
    return found if is_plausible else replace(found, duration=None)


def _reader_of(head: bytes) -> Callable[[bytes], Recording] | None:
    if head[4:8] == b"ftyp" and head[8:12] not in (b"avif", b"avis", b"heic", b"heix", b"mif1"):
        return _mp4
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return _webm
    if head.startswith(b"OggS"):
        return _ogg
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return _wav
    if head.startswith(b"ID3") or _mp3_frame(head, 0) is not None:
        return _mp3
    return None


# MP4 (ISO/IEC 14496-12): boxes in boxes.

_MP4_HOLDERS: Final = frozenset({b"moov", b"trak", b"mdia", b"minf", b"stbl"})
_MP4_METADATA: Final = frozenset({b"udta", b"meta", b"uuid"})
_MP4_VIDEO: Final = frozenset({b"avc1", b"avc3", b"hvc1", b"hev1", b"av01", b"vp08", b"vp09"})
_MP4_AUDIO: Final = frozenset({b"mp4a", b"Opus", b"fLaC", b".mp3"})


@dataclass(frozen=True, slots=True)
class _Part:
    """A box or element: its start, and its content from `body` to `end`."""

    kind: bytes
    at: int
    body: int
    end: int


def _boxes(content: bytes, begin: int, end: int) -> Iterator[_Part]:
    number = 0
    while begin < end:
        length, kind = struct.unpack_from(">I4s", content, begin)
        body = begin + 8
        if length == 1:
            (length,), body = struct.unpack_from(">Q", content, body), body + 8
        stop = begin + length if length else end
        number += 1
        if not body <= stop <= end or number > _MAX_PARTS:
            raise ValueError("a box ends after its parent")
        yield _Part(kind, begin, body, stop)
        begin = stop


def _parts_in(
    content: bytes, split: Callable[[bytes, int, int], Iterator[_Part]], holders: Collection[bytes]
) -> list[_Part]:
    """Return the parts of a file, then the parts of its holders, level by level."""
    parts = [*split(content, 0, len(content))]
    # The list grows while it is read.
    for part in parts:
        if part.kind in holders:
            parts += split(content, part.body, part.end)
        # Each holder has few parts, but crafted files have many holders in holders.
        if len(parts) > _MAX_PARTS:
            raise ValueError("too many parts")
    return parts


def _mp4(content: bytes) -> Recording:
    parts = _parts_in(content, _boxes, _MP4_HOLDERS)
    if not {b"moov", b"mdat"} <= {part.kind for part in parts}:
        raise ValueError("no tracks or no data")
    formats, size, duration = set[bytes](), (0, 0), None
    for part in parts:
        body = part.body
        if part.kind == b"mvhd":
            layout, at = (">IQ", body + 20) if content[body] == 1 else (">II", body + 12)
            scale, units = struct.unpack_from(layout, content, at)
            duration = units / scale if scale else None
        elif part.kind == b"tkhd":
            width, height = struct.unpack_from(">II", content, part.end - 8)
            size = max(size, (width >> 16, height >> 16))
        elif part.kind == b"stsd" and part.end - body >= 16:
            formats.add(content[body + 12 : body + 16])
    video, audio = formats & _MP4_VIDEO, formats & _MP4_AUDIO
    if not video and not audio:
        names = sorted(one.decode("ascii", "replace").strip() for one in formats)
        raise UnplayableFormat(", ".join(names) or "?")
    cleaned = _without(content, [part for part in parts if part.kind in _MP4_METADATA])
    if video:
        return Recording(cleaned, "video/mp4", ".mp4", duration, *_pixels(size))
    return Recording(cleaned, "audio/mp4", ".m4a", duration)


def _without(content: bytes, dropped: list[_Part]) -> bytes:
    """Return the file with zeros in place of these boxes. Nothing moves, because offsets are absolute."""
    if not dropped:
        return content
    cleaned = bytearray(content)
    for part in dropped:
        cleaned[part.at + 4 : part.at + 8] = b"free"
        cleaned[part.body : part.end] = bytes(part.end - part.body)
    return bytes(cleaned)


def _pixels(size: tuple[int, int]) -> tuple[int | None, int | None]:
    return size if all(0 < part <= 32_768 for part in size) else (None, None)


# WebM (Matroska): elements with variable lengths.

_SEGMENT, _INFO, _TRACKS, _ENTRY, _VIDEO = (
    b"\x18\x53\x80\x67", b"\x15\x49\xa9\x66", b"\x16\x54\xae\x6b", b"\xae", b"\xe0",
)  # fmt: skip
_TAGS: Final = frozenset({b"\x12\x54\xc3\x67", b"\x19\x41\xa4\x69"})
"""Tags and attached files."""
_WEBM_HOLDERS: Final = frozenset({_SEGMENT, _INFO, _TRACKS, _ENTRY, _VIDEO})
_WEBM_VIDEO: Final = frozenset({"V_VP8", "V_VP9", "V_AV1"})
_WEBM_AUDIO: Final = frozenset({"A_VORBIS", "A_OPUS"})


def _elements(content: bytes, begin: int, end: int) -> Iterator[_Part]:
    number = 0
    while begin < end:
        wide = 9 - content[begin].bit_length()
        at = begin + wide
        long = 9 - content[at].bit_length()
        if wide > 4 or long > 8:
            raise ValueError("an element is missing")
        length = int.from_bytes(content[at : at + long], "big") & ((1 << 7 * long) - 1)
        body = at + long
        # All bits are set in a live recording, whose length was unknown.
        stop = end if length == (1 << 7 * long) - 1 else body + length
        number += 1
        if stop > end or number > _MAX_PARTS:
            raise ValueError("an element ends after its parent")
        yield _Part(content[begin:at], begin, body, stop)
        begin = stop


def _webm(content: bytes) -> Recording:
    found: dict[bytes, bytes] = {}
    codecs: set[str] = set()
    dropped: list[_Part] = []
    parts = _parts_in(content, _elements, _WEBM_HOLDERS)
    head = {part.kind: part for part in _elements(content, parts[0].body, parts[0].end)}
    doc_type = head.get(b"\x42\x82")
    if doc_type is None or content[doc_type.body : doc_type.end].rstrip(b"\0") != b"webm":
        raise UnplayableFormat("Matroska")
    for part in parts:
        if part.kind == b"\x86":
            codecs.add(content[part.body : part.end].rstrip(b"\0").decode("ascii", "replace"))
        elif part.kind in _TAGS:
            dropped.append(part)
        elif part.kind not in _WEBM_HOLDERS and part.end - part.body <= 8:
            found.setdefault(part.kind, content[part.body : part.end])
    if not codecs & (_WEBM_VIDEO | _WEBM_AUDIO):
        raise UnplayableFormat(", ".join(sorted(codecs)) or "?")
    raw = found.get(b"\x44\x89", b"")
    units = struct.unpack(">f" if len(raw) == 4 else ">d", raw)[0] if len(raw) in (4, 8) else None
    scale = int.from_bytes(found.get(b"\x2a\xd7\xb1", b""), "big") or 1_000_000
    duration = units * scale / 1e9 if units is not None else None
    cleaned = bytearray(content) if dropped else content
    for part in dropped:
        # An element `Void` of the same length: one byte of kind, eight of length.
        length = part.end - part.at
        if length >= 9 and isinstance(cleaned, bytearray):
            void = b"\xec\x01" + (length - 9).to_bytes(7, "big")
            cleaned[part.at : part.end] = void + bytes(length - 9)
    if codecs & _WEBM_VIDEO:
        width, height = (int.from_bytes(found.get(one, b""), "big") for one in (b"\xb0", b"\xba"))
        size = _pixels((width, height))
        return Recording(bytes(cleaned), "video/webm", ".webm", duration, *size)
    return Recording(bytes(cleaned), "audio/webm", ".weba", duration)


# Ogg: pages, each with its length and position.


def _ogg(content: bytes) -> Recording:
    at, number, last, first = 0, 0, 0, b""
    while at < len(content):
        mark, granule, segments = struct.unpack_from("<4s2xq12xB", content, at)
        table = content[at + 27 : at + 27 + segments]
        body = at + 27 + segments
        number += 1
        at = body + sum(table)
        if mark != b"OggS" or at > len(content) or number > _MAX_PARTS:
            raise ValueError("a page is missing")
        first = first or content[body:at]
        last = max(last, granule)
    if first.startswith(b"OpusHead"):
        rate, skipped = 48_000, struct.unpack_from("<H", first, 10)[0]
    elif first.startswith(b"\x01vorbis"):
        rate, skipped = struct.unpack_from("<I", first, 12)[0], 0
    else:
        raise UnplayableFormat("Ogg")
    return Recording(content, "audio/ogg", ".ogg", (last - skipped) / rate)


# WAV: chunks, of which format and samples are kept.


def _wav(content: bytes) -> Recording:
    (length,) = struct.unpack_from("<I", content, 4)
    at, end, number, duration, rate = 12, min(8 + length, len(content)), 0, None, 0
    kept = bytearray(b"RIFF\0\0\0\0WAVE")
    while at + 8 <= end:
        kind, size = struct.unpack_from("<4sI", content, at)
        body, at = content[at + 8 : at + 8 + size], at + 8 + size + size % 2
        number += 1
        if len(body) != size or number > _MAX_PARTS:
            raise ValueError("a chunk ends after the file")
        if kind == b"fmt ":
            form, rate = struct.unpack_from("<H6xI", body)
            if form not in (1, 3, 0xFFFE):
                raise UnplayableFormat(f"WAV {form}")
        if kind == b"data":
            duration = size / rate
        if kind in (b"fmt ", b"fact", b"data"):
            kept += struct.pack("<4sI", kind, size) + body + b"\0" * (size % 2)
    if duration is None:
        raise ValueError("no samples")
    struct.pack_into("<I", kept, 4, len(kept) - 8)
    return Recording(bytes(kept), "audio/wav", ".wav", duration)


# MP3: frames one after the other. Tags before and after them are dropped.

_RATES: Final = (44_100, 48_000, 32_000)
_KILOBITS: Final = {
    1: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_ZEROS: Final = re.compile(rb"\0+")
_MIN_FRAMES: Final = 5
"""Number of frames that must follow each other. Fewer occur by chance in any file."""


def _mp3_frame(content: bytes, at: int) -> tuple[int, float] | None:
    """Return the bytes and the seconds of the frame at a position, or None if there is none."""
    head = content[at : at + 4]
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:  # layer III
        return None
    version, bits, rate = head[1] >> 3 & 3, head[2] >> 4, head[2] >> 2 & 3
    if version == 1 or bits in (0, 15) or rate == 3:
        return None
    generation = 1 if version == 3 else 2
    hertz = _RATES[rate] // (1, 2, 4)[(3, 2, 0).index(version)]
    samples = 1152 // generation
    length = samples // 8 * _KILOBITS[generation][bits] * 1000 // hertz + (head[2] >> 1 & 1)
    return length, samples / hertz


def _mp3(content: bytes) -> Recording:
    at = 0
    while content[at : at + 3] == b"ID3":
        size = 0
        for byte in content[at + 6 : at + 10]:
            size = size << 7 | byte & 0x7F
        at += 10 + size
    # Some programs pad the tag with zeros.
    zeros = _ZEROS.match(content, at)
    at = zeros.end() if zeros is not None else at
    begin, frames, duration = at, 0, 0.0
    while (frame := _mp3_frame(content, at)) is not None and at + frame[0] <= len(content):
        at, frames, duration = at + frame[0], frames + 1, duration + frame[1]
    # After the frames there may be tags and a cut frame, but not another file.
    if frames < _MIN_FRAMES or len(content) - at > max(64 * 1024, len(content) // 10):
        raise ValueError("a frame is missing")
    return Recording(content[begin:at], "audio/mpeg", ".mp3", duration)
