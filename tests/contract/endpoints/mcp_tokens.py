"""Tokens of AI clients."""

from __future__ import annotations

from uuid import uuid4

from mcp_bridge.access.tokens import create_token
from mcp_bridge.models import McpToken
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names


def scene() -> Names:
    admin = make.actor("admin")
    agent = make.user("ai_agent", "walking-agent")
    token, _ = create_token(name="Walked", user_id=agent.pk, tools=["list_posts"], actor=admin)
    return {"agent_user_id": agent.pk, "token_id": str(token.pk)}


def grow_tokens(number: int) -> None:
    make.copies(McpToken.objects.earliest("created_at"), number, hash=lambda _: uuid4().hex)


ENDPOINTS = [
    Endpoint("GET /api/mcp-tokens", ADMIN, invalid=("?userId=x", "userId"), grow=grow_tokens),
    Endpoint(
        "POST /api/mcp-tokens",
        ADMIN,
        201,
        body={"name": "Walked", "userId": "<agent_user_id>", "tools": ["list_posts"]},
        invalid=({"name": "x", "userId": "<agent_user_id>", "tools": ["list_post"]}, "tools"),
    ),
    Endpoint("GET /api/mcp-tokens/<token_id>", ADMIN),
    Endpoint(
        "PATCH /api/mcp-tokens/<token_id>",
        ADMIN,
        body={"scope": {"types": ["page"]}},
        invalid=({"scope": {"types": ["castle"]}}, "types"),
    ),
    Endpoint("DELETE /api/mcp-tokens/<token_id>", ADMIN),
]
