"""OpenAI's chat completions, also used by Ollama and many other servers."""

from __future__ import annotations

import json
from typing import Any

from tests.fake_provider.script import Reply, pieces


def error(reply: Reply) -> dict[str, Any]:
    return {"error": {"message": reply.message, "type": "error", "code": None, "param": None}}


def whole(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.text,
        "refusal": reply.refusal,
    }
    if reply.called:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.text},
            }
            for number, call in enumerate(reply.called)
        ]
    choice = {"index": 0, "finish_reason": _finish(reply), "message": message}
    return {**_frame("chat.completion", body), "choices": [choice], "usage": _usage(reply)}


def events(reply: Reply, body: dict[str, Any]) -> list[str]:
    """Yield a role, text or calls in pieces, stop reason, and usage."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    if reply.refusal is not None:
        deltas += [{"refusal": piece} for piece in pieces(reply.refusal)]
    if reply.text is not None:
        deltas += [{"content": piece} for piece in pieces(reply.text)]
    for number, call in enumerate(reply.called):
        named = {"name": call.name, "arguments": ""}
        first = {"index": number, "id": f"call_{number}", "type": "function", "function": named}
        deltas.append({"tool_calls": [first]})
        deltas += [
            {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}
            for piece in pieces(call.text)
        ]
    frame = _frame("chat.completion.chunk", body)
    chunks: list[dict[str, Any]] = [
        {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    end = {"index": 0, "delta": {}, "finish_reason": _finish(reply)}
    chunks.append({**frame, "choices": [end]})
    if reply.usage is not None:
        chunks.append({**frame, "choices": [], "usage": _usage(reply)})
    return [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]


def _frame(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_790_000_000, "model": body["model"]}


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.called else "stop")


def _usage(reply: Reply) -> dict[str, Any] | None:
    if reply.usage is None:
        return None
    sent, got = reply.usage
    return {
        "prompt_tokens": sent,
        "completion_tokens": got,
        "total_tokens": sent + got,
        "prompt_tokens_details": {"cached_tokens": reply.cached},
    }
