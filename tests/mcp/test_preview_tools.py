"""Preview links through AI clients."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from content.models import Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import create_preview_link
from tests import make

pytestmark = pytest.mark.django_db


def call(name: str, role: str = "ai_agent", **arguments: Any) -> Any:
    principal = Principal(id="client", user_id=make.user(role).pk)
    return call_tool(principal, name, arguments)


def answer(name: str, **arguments: Any) -> dict[str, Any]:
    result = call(name, **arguments)
    assert not result.is_error, result
    return dict(result.structured_content or {})


def test_a_link_is_made_listed_opened_and_revoked() -> None:
    post = make.post()
    make.staged(post, {"title": "Proposed title"})

    made = answer("create_post_preview_link", postId=str(post.pk))
    page = Client().get(urlsplit(made["url"]).path)
    listed = answer("list_post_preview_links", postId=str(post.pk))
    gone = answer("revoke_post_preview_link", postId=str(post.pk), linkId=made["id"])

    assert set(made) == {"id", "url", "expiresAt"}
    assert b"Proposed title" in page.content
    (row,) = listed["items"]
    assert row == {
        "id": made["id"],
        "layer": "ai-review",
        "expiresAt": made["expiresAt"],
        "createdBy": "ai_agent",
        "views": 1,
    }
    assert listed["total"] == 1
    assert made["url"].rpartition("/")[2] not in str(listed)
    assert gone == {"revoked": True}
    assert Client().get(urlsplit(made["url"]).path).status_code == 404


@pytest.mark.parametrize("hours", [0, 721, "24", True, 1.5], ids=str)
def test_hours_out_of_bounds_make_no_link(hours: Any) -> None:
    result = call("create_post_preview_link", postId=str(make.post().pk), expiresInHours=hours)

    assert result.is_error
    assert not PreviewLink.objects.exists()


def test_threat_06_a_link_of_another_post_is_not_there() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    link, _ = create_preview_link(post_id=other.pk, layer="source", actor=make.actor())

    for of in (post, Post(pk="00000000-0000-4000-8000-000000000000")):
        result = call("revoke_post_preview_link", postId=str(of.pk), linkId=str(link.pk))
        assert result.is_error
    assert PreviewLink.objects.filter(pk=link.pk).exists()


@pytest.mark.parametrize(
    "name", ["create_post_preview_link", "list_post_preview_links", "revoke_post_preview_link"]
)
def test_threat_03_a_translator_s_client_makes_lists_and_revokes_none(name: str) -> None:
    post = make.post()
    link, _ = create_preview_link(post_id=post.pk, layer="source", actor=make.actor())
    given = {"linkId": str(link.pk)} if name.startswith("revoke") else {}

    result = call(name, "translator", postId=str(post.pk), **given)

    assert result.is_error
    assert PreviewLink.objects.count() == 1
