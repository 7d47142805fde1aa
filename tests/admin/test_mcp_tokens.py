"""The page of MCP tokens: creation with one-time display, errors at fields, revocation."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from mcp_bridge.access.tokens import find_holder
from mcp_bridge.models import McpToken
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/mcp_bridge/mcptoken/"


def typed(**given: Any) -> dict[str, Any]:
    return {"name": "Laptop", "user": make.user("ai_agent", "writer").pk, **given}


def test_a_token_is_made_shown_once_and_revoked(signed_in: SignedIn) -> None:
    client, given = signed_in("admin"), typed(tools=["list_posts"], expires_at="2099-12-31")

    form = client.get(f"{LIST}add/").content.decode()
    answer = client.post(f"{LIST}add/", given)

    secret = re.findall(r"cmsmcp_[\w-]{43}", answer.content.decode())[0]
    token = McpToken.objects.get()
    assert "<label>Posts</label>" in form
    assert "writer (ai_agent)" in form
    assert "no-store" in answer["Cache-Control"]
    assert (token.tools, token.diagnostics) == (["list_posts"], False)
    assert token.expires_at == datetime(2099, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert find_holder(secret) is not None
    for path in (LIST, f"{LIST}{token.pk}/change/"):
        page = client.get(path).content.decode()
        assert secret not in page
        assert token.hint in page

    after = client.post(f"{LIST}{token.pk}/change/", follow=True).content.decode()
    assert "Revoked the token" in after
    assert ">Revoke<" not in after
    assert find_holder(secret) is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"tools": ["tail_activity_logs"]}, "grant diagnostics"),
        ({"tools": ["list_everything"]}, "list_everything is not one of the available choices"),
        ({"name": ""}, "This field is required"),
        ({"user": 0}, "not one of the available choices"),
        ({"expires_at": "2001-01-01"}, "must be in the future"),
    ],
    ids=str,
)
def test_errors_are_shown_at_their_fields(
    signed_in: SignedIn, given: dict[str, Any], sentence: str
) -> None:
    answer = signed_in("admin").post(f"{LIST}add/", typed(**given))

    assert answer.status_code == 422
    assert f'id="id_{next(iter(given))}_error"' in answer.content.decode()
    assert sentence in answer.content.decode()
    assert McpToken.objects.count() == 0
