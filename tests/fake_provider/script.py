"""What a test scripts, and what it reads afterwards."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

OUTPUT_TOOL = "suggest"


@dataclass(frozen=True)
class Call:
    """The model calls a tool; `arguments` as a text are sent as they are, however broken."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """One answer: `output` is what the model gives to the output tool, `arguments` its raw text instead.

    `calls` are calls of tools in their place, `refusal` a refusal, `image` a picture. `status` other than 200 is an
    error of the provider with `message`; `delay` seconds pass before any answer, and `held` waits for an event in the
    middle of a stream. `cut` ends the stream after so many of its events as if it were whole, `torn` breaks the
    connection there; `dropped` breaks it before any answer. `usage` None: the provider does not say. `packing` is how
    the answer says that it is packed, and it is not.
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
        """The calls that this answer makes, that of the output tool included."""
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


def pieces(text: str, count: int = 3) -> list[str]:
    """A text in parts, as it would come over a stream."""
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]
