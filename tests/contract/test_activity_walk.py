"""Every write, export and tool call leaves an entry in the activity log."""

from __future__ import annotations

from typing import Any, Final

import pytest
from django.db.models import Max
from django.test import Client

from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.services.tokens import create_token
from proofroom.core.models import Event
from proofroom.core.tools import all_tools
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import Area, Endpoint, Names, areas, filled

pytestmark = pytest.mark.django_db

CHANGE_NOTHING: Final = frozenset(
    {
        "POST /api/auth/logout",  # of nobody; one of somebody is walked below
        "POST /api/database/find-replace/preview",
        "POST /api/notifications/read",  # a row of the reader's own
        "POST /api/posts/<post_id>/variations/compare",
        "POST /api/posts/bulk-agents/<agent_id>/estimate",
        "POST /api/rehearsals",
        "POST /api/public/resolve",
        "POST /api/public/analytics/track",  # a row for each click: the log is of what people do
        "POST /api/url-patterns/preview",
    }
)
"""POST endpoints that only read."""
AS_IT_IS: Final = frozenset(
    {
        "DELETE /api/posts/<post_id>/lock",
        "POST /api/posts/<post_id>/modules/reorder",
        "POST /api/personal-data/requests",  # an entry at its end, which a worker writes
        "POST /api/posts/<post_id>/promote-variation",
        "POST /api/xliff",
        "POST /api/webhooks/<webhook_id>/replay/cancel",
    }
)
"""Endpoints that find nothing to change in their scene; their services are tested elsewhere."""
WALKED: Final = [
    (area, item)
    for area in areas()
    for item in area.endpoints
    if item.answers is not None
    and 200 <= item.answers < 300
    and item.address not in CHANGE_NOTHING | AS_IT_IS
    and (item.method != "GET" or item.path.endswith("/export"))
]


def _walked(endpoints: list[tuple[Area, Endpoint]]) -> pytest.MarkDecorator:
    ids = [endpoint.address for _, endpoint in endpoints]
    return pytest.mark.parametrize(("area", "endpoint"), endpoints, ids=ids)


def _role(endpoint: Endpoint) -> str | None:
    """Return the calling role; None for public endpoints."""
    if None in endpoint.who:
        return None
    return next((role for role in ("admin", "editor", "translator") if role in endpoint.who), None)


def _call(client: ApiClient, endpoint: Endpoint, names: Names, **headers: str) -> Any:
    path = filled(endpoint.path + endpoint.query, names)
    if endpoint.method == "GET":
        return client.get(path, **headers)
    send = client.send_form if endpoint.is_multipart else client.send
    return send(endpoint.method, path, filled(endpoint.body, names), **headers)


def _newest() -> int:
    return Event.objects.aggregate(newest=Max("id"))["newest"] or 0


def _left_since(newest: int) -> list[Event]:
    """Return the events since then, except first uses of tokens."""
    left = Event.objects.filter(pk__gt=newest).exclude(name="token.used")
    return list(left.select_related("actor").order_by("id"))


@_walked(WALKED)
def test_a_write_leaves_an_entry_that_says_who(area: Area, endpoint: Endpoint) -> None:
    names = area.scene()
    role = _role(endpoint)
    client = ApiClient(role)
    newest = _newest()

    response = _call(client, endpoint, names)

    assert response.status_code == endpoint.answers, response.content[:500]
    left = _left_since(newest)
    assert left, "nothing is in the log"
    who = {(event.via, event.credential, event.actor_name) for event in left}
    if role is None:
        assert {via for via, _, _ in who} in ({"site"}, {"api"})
    else:
        assert ("api", "", role) in who


@_walked([(area, item) for area, item in WALKED if _role(item) is not None])
def test_a_program_leaves_an_entry_that_names_its_token(area: Area, endpoint: Endpoint) -> None:
    names = area.scene()
    role = _role(endpoint)
    owner = make.user(role or "")
    token, secret = create_token(
        name="walk",
        permissions=owner.permissions,
        actor=make.actor("admin"),
        user_id=owner.pk,
    )
    newest = _newest()

    response = _call(ApiClient(), endpoint, names, HTTP_AUTHORIZATION=f"Bearer {secret}")

    left = _left_since(newest)
    if response.status_code == 403:
        assert response.json()["code"] == "session_required"
        assert left == []
        return
    assert response.status_code == endpoint.answers, response.content[:500]
    who = {(event.via, event.credential, event.actor_name) for event in left}
    assert ("api", f"token:{token.pk}", role) in who
    assert secret not in str([event.payload for event in left])


@pytest.mark.parametrize("name", sorted(tool.name for tool in all_tools()))
def test_a_call_of_a_tool_leaves_one_entry_without_its_arguments(name: str) -> None:
    user = make.user("ai_agent")
    principal = Principal(id="walk", user_id=user.pk, diagnostics=True)
    newest = _newest()

    result = call_tool(principal, name, {"canary-key": "canary-value"})

    assert result.is_error
    (entry,) = _left_since(newest)
    assert (entry.name, entry.via, entry.credential) == ("mcp.called", "mcp", "mcp:walk")
    assert (entry.actor_id, entry.payload["tool"], entry.payload["ok"]) == (user.pk, name, False)
    assert set(entry.payload) == {"tool", "ok", "ms", "code", "agentId"}
    assert "canary" not in str(entry.payload)


def test_a_login_and_a_logout_leave_entries() -> None:
    make.user("editor")
    client = ApiClient()
    client.write(
        "POST",
        "/api/auth/login",
        {"email": "editor@example.com", "password": make.PASSWORD},
    )
    client.write("POST", "/api/auth/logout")
    client.write("POST", "/api/auth/logout")

    left = _left_since(0)
    assert [(event.name, event.via, event.actor_name) for event in left] == [
        ("user.logged-in", "api", "editor"),
        ("user.logged-out", "api", "editor"),
    ]


def test_sessions_and_the_own_password_in_the_admin_leave_entries() -> None:
    user = make.user("editor")
    client = Client()
    right = {"username": user.email, "password": make.PASSWORD}
    client.post("/admin/login/", {**right, "password": "wrong"})
    client.post("/admin/login/", right)
    new = {"new_password1": "another-long-password", "new_password2": "another-long-password"}
    client.post("/admin/password_change/", {**new, "old_password": "wrong"})
    client.post("/admin/password_change/", {**new, "old_password": make.PASSWORD})
    client.post("/admin/logout/")

    user.refresh_from_db()
    assert user.check_password("another-long-password")
    left = _left_since(0)
    assert [(event.name, event.via, event.actor_id) for event in left] == [
        ("user.login-failed", "admin", None),
        ("user.logged-in", "admin", user.pk),
        ("user.changed", "admin", user.pk),
        ("user.logged-out", "admin", user.pk),
    ]
    assert left[2].payload["changed"] == ["password"]
    assert "another-long-password" not in str([event.payload for event in left])


def test_a_call_that_writes_leaves_its_own_entry_too() -> None:
    post = make.post()
    principal = Principal(id="walk", user_id=make.user("ai_agent").pk)
    newest = _newest()

    result = call_tool(
        principal, "save_post_ai_review", {"postId": str(post.pk), "patch": {"title": "Walked"}}
    )

    assert not result.is_error
    left = _left_since(newest)
    assert [event.name for event in left] == ["post.ai-review.save", "mcp.called"]
    assert {event.credential for event in left} == {"mcp:walk"}
    assert left[1].payload["ok"] is True


def test_a_caller_without_an_account_leaves_an_entry() -> None:
    newest = _newest()

    result = call_tool(Principal(id="walk", user_id=987_654), "list_posts", {})

    assert result.is_error
    (entry,) = _left_since(newest)
    assert (entry.actor_id, entry.credential) == (None, "mcp:walk")
    assert entry.payload["code"] == "no_account"
