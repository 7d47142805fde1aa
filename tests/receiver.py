"""An HTTP server on this machine that can misbehave like any server on the network.

with serving() as receiver:
    receiver.say("/hook", Reply(500), Reply(204))      # in this order; the last one stays
    receiver.say("/slow", Reply(trick=Trick.HANG))
    reach(settings)                                    # allows calls to this machine
    ...
    [seen] = receiver.wait(1, "/hook")
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.receiver_tricks import MOST_SECONDS, Reply, Trick, play

__all__ = ["Receiver", "Reply", "Seen", "Trick", "reach", "serving"]


@dataclass(frozen=True)
class Seen:
    """A received request. `headers` have lower-case names; `connection`: number of its connection."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    connection: int

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    scheme: str
    host: str
    port: int
    requests: list[Seen] = field(default_factory=list)
    connections: int = 0
    names: list[str | None] = field(default_factory=list)
    """Server names requested by TLS clients."""
    _replies: dict[str, list[Reply]] = field(default_factory=dict)
    _came: threading.Condition = field(default_factory=threading.Condition)
    _released: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/", host: str | None = None) -> str:
        host = host or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"{self.scheme}://{host}:{self.port}{path}"

    def say(self, path: str, *replies: Reply) -> None:
        """Set the replies to calls of this path, with any query."""
        with self._came:
            self._replies[path] = list(replies)

    def at(self, path: str) -> list[Seen]:
        with self._came:
            return [seen for seen in self.requests if seen.path.partition("?")[0] == path]

    def wait(self, count: int, path: str | None = None, seconds: float = 10.0) -> list[Seen]:
        """Return the requests, after waiting for that many."""

        def found() -> list[Seen]:
            return self.requests if path is None else self.at(path)

        with self._came:
            came = self._came.wait_for(lambda: len(found()) >= count, seconds)
            assert came, f"{len(found())} of {count} requests came within {seconds} s"
            return list(found())

    def release(self) -> None:
        """Release all hanging replies, and let none hang from now on."""
        self._released.set()

    def _next(self, seen: Seen) -> Reply:
        with self._came:
            self.requests.append(seen)
            self._came.notify_all()
            replies = self._replies.get(seen.path.partition("?")[0], [Reply()])
            return replies.pop(0) if len(replies) > 1 else replies[0]


def reach(settings: Any, *words: str) -> None:
    """Allow outgoing calls to these hosts or networks; by default to this machine."""
    allowed = words or ("127.0.0.0/8",)
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"outgoing_allowed_hosts": allowed})


@contextmanager
def serving(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Yield the receiver on a free port of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, 0), family=family, backlog=512)
    receiver = Receiver("https" if tls else "http", host, listener.getsockname()[1])
    if tls is not None:
        tls.sni_callback = lambda _, name, __: receiver.names.append(name)
    open_ones: set[socket.socket] = set()

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            receiver.connections += 1
            open_ones.add(connection)
            number = receiver.connections
            threading.Thread(target=hold, args=(connection, number), daemon=True).start()

    def hold(connection: socket.socket, number: int) -> None:
        with suppress(OSError, ValueError):
            connection.settimeout(MOST_SECONDS)
            line = tls.wrap_socket(connection, server_side=True) if tls else connection
            while _exchange(line, receiver, number):
                pass
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()
        open_ones.discard(connection)
        connection.close()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.release()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in list(open_ones):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _exchange(line: socket.socket, receiver: Receiver, number: int) -> bool:
    """Answer one request. Return whether the connection stays open."""
    seen = _read(line, number)
    if seen is None:
        return False
    reply = receiver._next(seen)
    return play(line, reply, seen.headers, receiver._released)


def _read(line: socket.socket, number: int) -> Seen | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = line.recv(65536)
        if not more:
            return None
        data += more
        if data[0] == 0x16:  # a client that begins with TLS, where none is spoken
            line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rest)
    }
    while len(body) < int(headers.get("content-length", "0")):
        more = line.recv(65536)
        if not more:
            return None
        body += more
    return Seen(method, path, headers, body, time.monotonic(), number)
