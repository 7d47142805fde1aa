"""Misbehavior of the receiver."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MOST_SECONDS = 20.0
"""Maximum duration of any reply, even if a test forgets to release it."""


class Trick(StrEnum):
    """Behavior instead of a plain response."""

    NONE = "none"
    HANG = "hang"  # no answer until `release()`
    HANG_BODY = "hang_body"  # the head and half of the body, then nothing until `release()`
    DROP = "drop"  # the connection ends without an answer
    RESET = "reset"  # the same, with a reset
    BREAK_OFF = "break_off"  # the connection ends in the middle of the body
    DRIP_HEAD = "drip_head"  # a byte at a time, without an end
    DRIP_BODY = "drip_body"
    CLAIM_MORE = "claim_more"  # Content-Length of 1,000 more than comes; the connection ends
    CLAIM_LESS = "claim_less"  # Content-Length of half of what comes
    TWO_ANSWERS = "two_answers"  # a second answer that nobody asked for
    ENDLESS = "endless"  # a body without an end
    ENDLESS_HEADERS = "endless_headers"
    ENDLESS_1XX = "endless_1xx"
    GZIP_BOMB = "gzip_bomb"  # 10 MB of zeros, packed
    GARBAGE = "garbage"  # no HTTP at all
    ECHO = "echo"  # the body is the request's headers as JSON


@dataclass(frozen=True)
class Reply:
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    trick: Trick = Trick.NONE


def _head(reply: Reply, length: int | None) -> bytes:
    rows = [f"HTTP/1.1 {reply.status} Said", *(f"{k}: {v}" for k, v in reply.headers.items())]
    if length is not None and reply.status not in (204, 304):
        rows.append(f"Content-Length: {length}")
    return ("\r\n".join(rows) + "\r\n\r\n").encode("latin-1")


def _send(line: socket.socket, reply: Reply, length: int | None) -> None:
    line.sendall(_head(reply, length) + (b"" if reply.status in (204, 304) else reply.body))


def play(
    line: socket.socket, reply: Reply, headers: Mapping[str, str], released: threading.Event
) -> bool:
    """Answer a request with these headers. Return whether the connection stays open."""
    body = reply.body
    match reply.trick:
        case Trick.NONE:
            _send(line, reply, len(body))
        case Trick.CLAIM_LESS:
            _send(line, reply, len(body) // 2)
        case Trick.TWO_ANSWERS:
            line.sendall((_head(reply, len(body)) + body) * 2)
        case Trick.GZIP_BOMB:
            packed = gzip.compress(bytes(10_000_000), 9)
            _send(line, Reply(headers={"Content-Encoding": "gzip"}, body=packed), len(packed))
        case Trick.ECHO:
            echoed = json.dumps(dict(headers)).encode()
            _send(line, Reply(reply.status, body=echoed), len(echoed))
        case _:
            _play_last(line, reply, released)
            return False
    return True


def _play_last(line: socket.socket, reply: Reply, released: threading.Event) -> None:
    """Send a reply that ends the connection."""
    body, half = reply.body, reply.body[: len(reply.body) // 2]
    match reply.trick:
        case Trick.HANG:
            released.wait(MOST_SECONDS)
            _send(line, reply, len(body))
        case Trick.HANG_BODY:
            line.sendall(_head(reply, len(body)) + half)
            released.wait(MOST_SECONDS)
            line.sendall(body[len(half) :])
        case Trick.RESET:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            line.close()
        case Trick.BREAK_OFF:
            line.sendall(_head(reply, len(body)) + half)
        case Trick.CLAIM_MORE:
            _send(line, reply, len(body) + 1000)
        case Trick.GARBAGE:
            line.sendall(b"220 mail.example ESMTP\r\n\r\n")
        case _:
            _endless(line, reply, released)


def _endless(line: socket.socket, reply: Reply, released: threading.Event) -> None:
    """Send until the client disconnects."""
    first, piece, pause = {
        Trick.DRIP_HEAD: (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a", 0.01),
        Trick.DRIP_BODY: (_head(reply, 1_000_000), b"a", 0.01),
        Trick.ENDLESS: (_head(reply, None), b"a" * 65536, 0.0),
        Trick.ENDLESS_HEADERS: (b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"a" * 1000 + b"\r\n", 0.0),
        Trick.ENDLESS_1XX: (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 50, 0.0),
    }.get(reply.trick, (b"", b"", 0.0))
    until = time.monotonic() + MOST_SECONDS
    line.sendall(first)
    while piece and time.monotonic() < until:
        line.sendall(piece)
        if pause and released.wait(pause):
            return
