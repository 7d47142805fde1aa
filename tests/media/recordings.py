"""Videos and audio files to upload, made by hand: the structure of real ones, with hardly any pictures or sound."""

from __future__ import annotations

import struct
import wave
from io import BytesIO

SECRET = b"53.5511N 9.9937E"
"""A place, as phones write it into videos."""


def box(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def mp4(
    seconds: float = 7.5, *, codec: bytes = b"avc1", size: tuple[int, int] = (640, 360)
) -> bytes:
    movie = box(b"mvhd", bytes(12), struct.pack(">II", 1000, round(seconds * 1000)), bytes(80))
    head = box(b"tkhd", bytes(76), struct.pack(">II", size[0] << 16, size[1] << 16))
    sample = box(b"stsd", bytes(4), struct.pack(">I", 1), box(codec, bytes(8)))
    media = box(b"mdia", box(b"minf", box(b"stbl", sample)))
    track = box(b"trak", head, media)
    place = box(b"udta", box(b"\xa9xyz", SECRET))
    file_type = box(b"ftyp", b"isom", bytes(4), b"isomavc1")
    return file_type + box(b"moov", movie, track, place) + box(b"mdat", bytes(range(256)) * 8)


def element(kind: bytes, body: bytes) -> bytes:
    return kind + (0x10000000 | len(body)).to_bytes(4, "big") + body


def webm(seconds: float = 4.0, *, codec: bytes = b"V_VP9", doc_type: bytes = b"webm") -> bytes:
    info = element(b"\x15\x49\xa9\x66", element(b"\x44\x89", struct.pack(">d", seconds * 1000)))
    video = element(b"\xe0", element(b"\xb0", b"\x01\x40") + element(b"\xba", b"\xb4"))
    entry = element(b"\xae", element(b"\x86", codec) + video)
    tracks = element(b"\x16\x54\xae\x6b", entry)
    tags = element(b"\x12\x54\xc3\x67", SECRET)
    cluster = element(b"\x1f\x43\xb6\x75", bytes(500))
    head = element(b"\x1a\x45\xdf\xa3", element(b"\x42\x82", doc_type))
    return head + element(b"\x18\x53\x80\x67", info + tracks + tags + cluster)


def mp3(frames: int = 100) -> bytes:
    """Return frames of 128 kbit/s at 44.1 kHz, with tags before and after them."""
    frame = b"\xff\xfb\x90\x00" + bytes(417 - 4)
    tag = b"ID3\x04\x00\x00" + bytes([0, 0, 0, len(SECRET)]) + SECRET
    return tag + frame * frames + b"TAG" + SECRET.ljust(125)


def wav(seconds: float = 2.0) -> bytes:
    out = BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(round(seconds * 8000) * 2))
    return out.getvalue() + b"LIST" + struct.pack("<I", len(SECRET)) + SECRET


def ogg(seconds: float = 3.0) -> bytes:
    def page(granule: int, body: bytes) -> bytes:
        head = struct.pack("<4sBBqIIIB", b"OggS", 0, 0, granule, 1, 0, 0, 1)
        return head + bytes([len(body)]) + body

    head = b"OpusHead\x01\x01" + struct.pack("<HIHB", 312, 48_000, 0, 0)
    return page(0, head) + page(312 + round(seconds * 48_000), bytes(50))


CRAFTED_PARTS = 200_001
"""More parts than any recording has."""


def crafted_mp4() -> bytes:
    """Return boxes in boxes."""
    nested = b"".join(
        struct.pack(">I4s", 8 * (CRAFTED_PARTS - number), b"moov")
        for number in range(CRAFTED_PARTS)
    )
    return box(b"ftyp", b"isom", bytes(4)) + nested + box(b"mdat")


def crafted_webm() -> bytes:
    """Return elements of unknown length in elements."""
    return webm() + b"\x18\x53\x80\x67\xff" * CRAFTED_PARTS


def crafted_wav() -> bytes:
    """Return empty chunks before the samples."""
    chunks = struct.pack("<4sI", b"fact", 0) * CRAFTED_PARTS + wav()[12:]
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


VTT = "WEBVTT\n\n00:00.500 --> 00:02.000\nGrind the beans.\n\n2\n00:02.000 --> 00:04.000\nPour.\n"
