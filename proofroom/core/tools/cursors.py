"""Cursors of tools' lists: a short text that only the list that gave it understands."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.utils.crypto import constant_time_compare, salted_hmac

from proofroom.core.errors import RuleViolation, invalid

Part = datetime | UUID | int | str
"""What a cursor may hold: the values of the row where a page ended."""

CURSOR_MAX: Final = 2_000
_SEAL: Final = 6
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def seal_cursor(parts: Sequence[Part], *, of: str) -> str:
    """A cursor of the list `of`: its tool and filters. The seal keeps out what no list gave."""
    body = b"".join(_packed(part) for part in parts)
    return base64.urlsafe_b64encode(_seal(body, of) + body).decode().rstrip("=")


def open_cursor(cursor: str, *, of: str) -> list[Part]:
    """Return what `sealed_cursor` put in. Raises `RuleViolation` for one that is not of this list."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError):
        raise not_of_this_list() from None
    body = raw[_SEAL:]
    if not constant_time_compare(raw[:_SEAL], _seal(body, of)):
        raise not_of_this_list()
    return _unpacked(body)


def not_of_this_list() -> RuleViolation:
    return invalid(
        "cursor",
        "This cursor is not of this list: it goes with the tool and the filters of the call that answered it. "
        "Send those with it. Omit cursor to start from the first page.",
    )


def _seal(body: bytes, of: str) -> bytes:
    message = of.encode("utf-8", "surrogatepass") + b"\x00" + body
    return salted_hmac("core.tool_cursors", message, algorithm="sha256").digest()[:_SEAL]


def _packed(part: Part) -> bytes:
    if isinstance(part, datetime):
        return b"d" + struct.pack(">q", (part - _EPOCH) // _MICROSECOND)
    if isinstance(part, UUID):
        return b"u" + part.bytes
    if isinstance(part, int):
        return b"i" + struct.pack(">q", part)
    text = part.encode()
    return b"s" + struct.pack(">H", len(text)) + text


def _unpacked(body: bytes) -> list[Part]:
    parts: list[Part] = []
    while body:
        part, used = _READERS[body[:1]](body[1:])
        parts.append(part)
        body = body[1 + used :]
    return parts


def _text(body: bytes) -> tuple[Part, int]:
    length = struct.unpack(">H", body[:2])[0]
    return body[2 : 2 + length].decode(), 2 + length


_READERS: Final[dict[bytes, Callable[[bytes], tuple[Part, int]]]] = {
    b"d": lambda body: (_EPOCH + struct.unpack(">q", body[:8])[0] * _MICROSECOND, 8),
    b"u": lambda body: (UUID(bytes=body[:16]), 16),
    b"i": lambda body: (struct.unpack(">q", body[:8])[0], 8),
    b"s": _text,
}
