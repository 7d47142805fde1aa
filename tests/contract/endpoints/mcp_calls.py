"""The log of calls of AI clients."""

from __future__ import annotations

from uuid import uuid4

from mcp_bridge.models import McpCall, McpToken
from proofroom.accounts.models import User
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names


def scene() -> Names:
    McpCall.objects.create(
        tool="list_posts",
        principal="token",
        user=make.user("editor"),
        ms=3,
        ok=True,
        request_bytes=2,
        response_bytes=40,
    )
    return {}


def grow(number: int) -> None:
    """Add calls, each with its own token and account."""
    user = User.objects.get(username="editor")
    names = [uuid4().hex for _ in range(number)]
    users = make.copies(
        user,
        number,
        email=lambda place: f"{names[place]}@example.com",
        username=lambda place: names[place],
    )
    token = McpToken(name="Laptop", hash="0", hint="0000", user=user, role=user.role)
    tokens = make.copies(
        token, number, hash=lambda place: names[place], user_id=lambda place: users[place].pk
    )
    make.copies(
        McpCall.objects.earliest("pk"),
        number,
        principal=lambda place: f"client:{tokens[place].pk}",
        user_id=lambda place: users[place].pk,
    )


ENDPOINTS = [
    Endpoint("GET /api/mcp-calls", ADMIN, invalid=("?since=yesterday", "since"), grow=grow),
]
