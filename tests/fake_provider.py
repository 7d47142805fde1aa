"""A server that speaks like a provider of models: OpenAI's chat completions and Anthropic's messages.

It answers with what a test scripted and keeps what it was asked.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer: `output` is what the model gives to the output tool, `arguments` its raw text instead.

    `status` other than 200 is an error of the provider with `message`; `delay` seconds pass before any answer.
    """

    output: dict[str, Any] | None = None
    arguments: str | None = None
    text: str | None = None
    raw: str | None = None
    status: int = 200
    message: str = "refused"
    delay: float = 0.0
    finish: str | None = None


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class FakeProvider:
    """`replies` are used up in order; the last one stays. `began` is set when the first question comes in."""

    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list)
    began: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        return f"{self.address}/v1"

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def said(self) -> str:
        """Everything that was ever sent here, but for the headers."""
        return json.dumps([asked.body for asked in self.asked], ensure_ascii=False)


@contextmanager
def serving(*replies: Reply) -> Iterator[FakeProvider]:
    """The server, on a free port of this machine."""
    fake = FakeProvider(list(replies))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            """Quiet."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            fake.asked.append(Asked(self.path, dict(self.headers.items()), body))
            fake.began.set()
            reply = fake.next_reply()
            time.sleep(reply.delay)
            try:
                self._send(reply, body)
            except (BrokenPipeError, ConnectionResetError):
                return  # the client gave up, as some tests want

        def _send(self, reply: Reply, body: dict[str, Any]) -> None:
            wire = _anthropic if self.path.endswith("/messages") else _openai
            text = reply.raw if reply.raw is not None else json.dumps(wire(reply, body))
            data = text.encode()
            self.send_response(reply.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            if reply.status == 429:
                self.send_header("retry-after", "0")
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.port = server.server_port
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()


def _arguments(reply: Reply) -> str:
    return reply.arguments if reply.arguments is not None else json.dumps(reply.output)


def _openai(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    if reply.status != 200:
        return {"error": {"message": reply.message, "type": "error", "code": None, "param": None}}
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.text is None:
        function = {"name": body["tools"][0]["function"]["name"], "arguments": _arguments(reply)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    finish = reply.finish or ("stop" if reply.text is not None else "tool_calls")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }


def _anthropic(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    if reply.status != 200:
        return {"type": "error", "error": {"type": "error", "message": reply.message}}
    block = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": body["tools"][0]["name"],
        "input": reply.output,
    }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 100},
    }
