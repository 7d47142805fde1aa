"""Anthropic's messages API."""

from __future__ import annotations

import json
from typing import Any

from tests.fake_provider.script import Call, Reply, pieces

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error(reply: Reply) -> dict[str, Any]:
    kind = _KINDS.get(reply.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": reply.message}}


def whole(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.text is not None:
        content.append({"type": "text", "text": reply.text})
    content += [
        {**_tool_use(number, call), "input": json.loads(call.text)}
        for number, call in enumerate(reply.called)
    ]
    return {
        **_message(body),
        "content": content,
        "stop_reason": _stop(reply),
        "usage": _usage(reply),
    }


def events(reply: Reply, body: dict[str, Any]) -> list[str]:
    """Yield the start of the message, its blocks in pieces, then stop reason and usage."""
    _, got = reply.usage or (0, 0)
    sent: list[tuple[str, dict[str, Any]]] = [
        (
            "message_start",
            {"message": {**_message(body), "usage": {**_usage(reply), "output_tokens": 1}}},
        )
    ]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.text is not None:
        words = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)]
        blocks.append(({"type": "text", "text": ""}, words))
    for number, call in enumerate(reply.called):
        parts = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(call.text)]
        blocks.append((_tool_use(number, call), parts))
    for index, (block, deltas) in enumerate(blocks):
        sent.append(("content_block_start", {"index": index, "content_block": block}))
        sent += [("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
        sent.append(("content_block_stop", {"index": index}))
    delta = {"stop_reason": _stop(reply), "stop_sequence": None}
    sent.append(("message_delta", {"delta": delta, "usage": {"output_tokens": got}}))
    sent.append(("message_stop", {}))
    return [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in sent]


def _message(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _tool_use(number: int, call: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": call.name, "input": {}}


def _stop(reply: Reply) -> str:
    if reply.finish:
        return {"length": "max_tokens"}.get(reply.finish, reply.finish)
    if reply.refusal is not None:
        return "refusal"
    return "tool_use" if reply.called else "end_turn"


def _usage(reply: Reply) -> dict[str, int]:
    sent, got = reply.usage or (0, 0)
    return {
        "input_tokens": sent - reply.cached,
        "cache_read_input_tokens": reply.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": got,
    }
