"""`python -m benchmarks.model PORT`: a model that answers immediately, with OpenAI's chat completions protocol.

Its response is one call of the output tool, whole or streamed, as requested.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = json.dumps({"post": {"metaTitle": "Measured"}, "summary": "One field."})
_USAGE = {"prompt_tokens": 4000, "completion_tokens": 40, "total_tokens": 4040}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        self._send(b"{}", "application/json")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        call = {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "suggest", "arguments": ANSWER},
        }
        if request.get("stream"):
            parts = [
                _part({"delta": {"role": "assistant", "tool_calls": [call]}}),
                _part({"delta": {}, "finish_reason": "tool_calls"}),
                {**_part(None), "usage": _USAGE},
            ]
            lines = [f"data: {json.dumps(part)}\n\n" for part in parts]
            self._send("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")
            return
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        whole = _part({"message": message, "finish_reason": "tool_calls"})
        answer = {**whole, "object": "chat.completion", "usage": _USAGE}
        self._send(json.dumps(answer).encode(), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _part(choice: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "benchmark",
        "choices": [] if choice is None else [{"index": 0, "finish_reason": None, **choice}],
    }


def main() -> None:
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()


if __name__ == "__main__":
    main()
