"""Gemini's generateContent. A call is sent whole, so invalid arguments become a call that Gemini marks
as malformed.
"""

from __future__ import annotations

import json
from typing import Any

from tests.fake_provider.script import Reply, pieces

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
}


def error(reply: Reply) -> dict[str, Any]:
    status = _STATUSES.get(reply.status, "INTERNAL")
    return {"error": {"code": reply.status, "message": reply.message, "status": status}}


def whole(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    if reply.refusal is not None:
        return _blocked(reply)
    return _chunk(reply, _parts(reply), end=True)


def events(reply: Reply, body: dict[str, Any]) -> list[str]:
    """Yield each part as a chunk, then stop reason and usage."""
    if reply.refusal is not None:
        chunks = [_blocked(reply)]
    else:
        chunks = [_chunk(reply, [part], end=False) for part in _parts(reply)]
        chunks.append(_chunk(reply, [{"text": ""}], end=True))
    return [f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks]


def _parts(reply: Reply) -> list[dict[str, Any]]:
    words = [{"text": piece} for piece in pieces(reply.text)] if reply.text is not None else []
    calls = [
        {"functionCall": {"id": f"fc_{number}", "name": call.name, "args": json.loads(call.text)}}
        for number, call in enumerate(reply.called)
        if not _is_broken(call.text)
    ]
    return [*words, *calls]


def _chunk(reply: Reply, parts: list[dict[str, Any]], *, end: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if end:
        broken = any(_is_broken(call.text) for call in reply.called)
        finish = {"length": "MAX_TOKENS"}.get(reply.finish or "", reply.finish)
        candidate["finishReason"] = finish or ("MALFORMED_FUNCTION_CALL" if broken else "STOP")
    return {
        "candidates": [candidate],
        "modelVersion": "gemini",
        "responseId": "gemini-1",
        **({"usageMetadata": _usage(reply)} if reply.usage is not None else {}),
    }


def _blocked(reply: Reply) -> dict[str, Any]:
    return {
        "promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": reply.refusal},
        "responseId": "gemini-1",
        **({"usageMetadata": _usage(reply)} if reply.usage is not None else {}),
    }


def _usage(reply: Reply) -> dict[str, int]:
    sent, got = reply.usage or (0, 0)
    return {
        "promptTokenCount": sent,
        "candidatesTokenCount": got,
        "totalTokenCount": sent + got,
        "cachedContentTokenCount": reply.cached,
    }


def _is_broken(text: str) -> bool:
    try:
        return not isinstance(json.loads(text), dict)
    except ValueError:
        return True
