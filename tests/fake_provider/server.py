"""The server: detects the protocol, and sends the next reply with it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fake_provider import anthropic_wire, gemini_wire, image_wires, openai_wire
from tests.fake_provider.script import Asked, FakeProvider, Reply


@dataclass(frozen=True)
class Wire:
    """A provider's format of errors, complete answers and stream events."""

    error: Callable[[Reply], dict[str, Any]]
    whole: Callable[[Reply, dict[str, Any]], dict[str, Any]]
    events: Callable[[Reply, dict[str, Any]], list[str]]


OPENAI = Wire(openai_wire.error, openai_wire.whole, openai_wire.events)
ANTHROPIC = Wire(anthropic_wire.error, anthropic_wire.whole, anthropic_wire.events)
GEMINI = Wire(gemini_wire.error, gemini_wire.whole, gemini_wire.events)


def wire_of(path: str, headers: dict[str, str], reply: Reply) -> Wire:
    """Return the protocol of a path. A wrong version is an error of the test."""
    if path.endswith("/v1beta/models"):
        return GEMINI
    if path.endswith("/messages") or (path.endswith("/models") and "x-api-key" in headers):
        assert headers.get("anthropic-version"), "Anthropic wants its version header"
        return ANTHROPIC
    if path.endswith(("generateContent", "streamGenerateContent")):
        whole = image_wires.gemini if reply.image is not None else gemini_wire.whole
        return Wire(GEMINI.error, whole, GEMINI.events)
    if path.endswith("/images/generations"):
        return Wire(OPENAI.error, image_wires.openai, OPENAI.events)
    return OPENAI


class Server(ThreadingHTTPServer):
    """Serves one script on a free port of this machine."""

    daemon_threads = True

    def __init__(self, fake: FakeProvider) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fake = fake
        self.taking = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """Answers one request with the script."""

    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        self._take({})

    def do_POST(self) -> None:
        self._take(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _take(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        fake = self.server.fake
        with self.server.taking:
            fake.asked.append(Asked(self.path, headers, body))
            reply = fake.next_reply()
        fake.began.set()
        time.sleep(reply.delay)
        try:
            self._answer(reply, headers, body)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client gave up, as some tests want

    def _answer(self, reply: Reply, headers: dict[str, str], body: dict[str, Any]) -> None:
        path = self.path.partition("?")[0]
        wire = wire_of(path, headers, reply)
        streamed = body.get("stream") or path.endswith("streamGenerateContent")
        if reply.dropped:
            self.close_connection = True
        elif reply.raw is not None:
            self._send(reply, reply.raw)
        elif reply.status != 200:
            self._send(reply, json.dumps(wire.error(reply)))
        elif streamed:
            self._stream(reply, wire.events(reply, body))
        else:
            self._send(reply, json.dumps(wire.whole(reply, body)))

    def _send(self, reply: Reply, text: str) -> None:
        data = text.encode()
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if reply.packing:
            self.send_header("content-encoding", reply.packing)
        retry_after = reply.retry_after
        if retry_after is None and reply.status == 429:
            retry_after = "0"
        if retry_after:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, reply: Reply, events: list[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        end = reply.torn if reply.torn is not None else reply.cut
        for number, event in enumerate(events[:end]):
            if reply.held is not None and number == len(events) // 2:
                reply.held.wait(30)
            data = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        if reply.torn is not None:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


@contextmanager
def serving(*replies: Reply) -> Iterator[FakeProvider]:
    """Yield the server on a free port of this machine."""
    fake = FakeProvider(list(replies))
    server = Server(fake)
    fake.port = server.server_port
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
