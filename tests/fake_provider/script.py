"""The script of a test, and the records it reads afterwards."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

OUTPUT_TOOL = "suggest"


@dataclass(frozen=True)
class Call:
    """A tool call of the model; `arguments` as text are sent unchanged, even if invalid."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """One answer. `output`: the model's input to the output tool; `arguments`: its raw text instead.

    `calls`: tool calls instead; `refusal`: a refusal; `image`: an image. `status` other than 200 is
    a provider error with `message`; `delay`: seconds before the answer; `held`: an event to wait
    for in the middle of the stream. `cut` ends the stream normally after that many events, `torn`
    breaks the connection there; `dropped` breaks it before any answer. `usage` None: none is
    reported. `packing`: a false content encoding.
    """

    output: dict[str, Any] | None = None
    arguments: str | None = None
    text: str | None = None
    raw: str | None = None
    status: int = 200
    message: str = "refused"
    delay: float = 0.0
    finish: str | None = None
    calls: tuple[Call, ...] = ()
    refusal: str | None = None
    image: bytes | None = None
    retry_after: str | None = None
    held: threading.Event | None = None
    cut: int | None = None
    torn: int | None = None
    dropped: bool = False
    usage: tuple[int, int] | None = (1000, 100)
    cached: int = 0
    packing: str | None = None

    @property
    def called(self) -> tuple[Call, ...]:
        """Return the calls of this answer, including the output tool's."""
        if self.calls or self.text is not None or self.refusal is not None:
            return self.calls
        given = self.arguments if self.arguments is not None else json.dumps(self.output)
        return (Call(OUTPUT_TOOL, given),)


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class FakeProvider:
    """`replies` are used in order; the last one is repeated. `began` is set at the first request."""

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
        """Return everything sent to the server, except headers."""
        return json.dumps([asked.body for asked in self.asked], ensure_ascii=False)


def pieces(text: str, count: int = 3) -> list[str]:
    """Return a text in parts, like in a stream."""
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]
