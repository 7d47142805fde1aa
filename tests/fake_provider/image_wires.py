"""Image formats of providers: OpenAI's images, and Gemini's inline data."""

from __future__ import annotations

import base64
from typing import Any

from tests.fake_provider.script import Reply


def openai(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    sent, got = reply.usage or (0, 0)
    usage = {
        "input_tokens": sent,
        "input_tokens_details": {"text_tokens": sent, "image_tokens": 0},
        "output_tokens": got,
        "total_tokens": sent + got,
    }
    return {
        "created": 1_790_000_000,
        "data": [{"b64_json": _base64(reply)}] if reply.image else [],
        **({"usage": usage} if reply.usage is not None else {}),
    }


def gemini(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    sent, got = reply.usage or (0, 0)
    part = {"inlineData": {"mimeType": "image/png", "data": _base64(reply)}}
    usage = {
        "promptTokenCount": sent,
        "candidatesTokenCount": got,
        "totalTokenCount": sent + got,
        "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": got}],
    }
    return {
        "candidates": [
            {
                "index": 0,
                "finishReason": reply.finish or "STOP",
                "content": {"role": "model", "parts": [part] if reply.image else []},
            }
        ],
        "modelVersion": "gemini",
        "responseId": "gemini-1",
        **({"usageMetadata": usage} if reply.usage is not None else {}),
    }


def _base64(reply: Reply) -> str:
    return base64.b64encode(reply.image or b"").decode()
