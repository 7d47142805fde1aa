"""Every address under /api/ × every role, against a table written from the contract, not from the code.

A new address fails here until its line is in the table.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from content.models import Layer, Post
from core.api.permissions import PUBLIC, SECRET, SIGNED_IN
from tests import make
from tests.api_client import ApiClient
from tests.contract.addresses import addresses

pytestmark = pytest.mark.django_db

ROLES: Final = (None, "admin", "editor", "translator", "ai_agent")
PEOPLE: Final = frozenset({"admin", "editor", "translator"})
EDITORS: Final = frozenset({"admin", "editor"})
ADMIN: Final = frozenset({"admin"})
ALL: Final = frozenset(ROLES)
SECRETS: Final[frozenset[str]] = frozenset()

# Who gets past the question of rights. Agents have no session: they come by MCP and never by this door.
WHO: Final[dict[str, frozenset[Any]]] = {
    "GET /api/schema/": ALL,
    "POST /api/auth/login": ALL,
    "POST /api/auth/logout": ALL,
    "GET /api/auth/me": PEOPLE,
    "GET /api/agents": EDITORS,
    "POST /api/agents/<agent_id>/run": ADMIN,
    "POST /api/posts/<post_id>/agents/<agent_id>/run": EDITORS,
    "POST /api/public/agents/<agent_id>/run": SECRETS,
    "GET /api/agent-runs": EDITORS,
    "GET /api/agent-runs/<run_id>": EDITORS,
    "POST /api/agent-runs/<run_id>/cancel": EDITORS,
    "POST /api/agent-runs/<run_id>/revert": EDITORS,
    "GET /api/posts": PEOPLE,
    "POST /api/posts": EDITORS,
    "GET /api/posts/<post_id>": PEOPLE,
    "PUT /api/posts/<post_id>": PEOPLE,
    "DELETE /api/posts/<post_id>": EDITORS,
    "POST /api/posts/<post_id>/restore": EDITORS,
    "GET /api/posts/<post_id>/export": PEOPLE,
    "GET /api/posts/<post_id>/modules": PEOPLE,
    "POST /api/posts/<post_id>/modules": EDITORS,
    "POST /api/posts/<post_id>/modules/reorder": EDITORS,
    "PUT /api/post-modules/<module_id>": PEOPLE,
    "DELETE /api/post-modules/<module_id>": EDITORS,
    "GET /api/posts/<post_id>/changes": PEOPLE,
    "PUT /api/posts/<post_id>/review": PEOPLE,
    "POST /api/posts/<post_id>/review/approve": EDITORS,
    "POST /api/posts/<post_id>/review/reject": EDITORS,
    "POST /api/posts/<post_id>/ai-review/submit": EDITORS,
    "POST /api/posts/<post_id>/ai-review/reject": EDITORS,
    "GET /api/posts/<post_id>/revisions": PEOPLE,
    "GET /api/posts/<post_id>/revisions/compare": PEOPLE,
    "GET /api/posts/<post_id>/revisions/<revision_id>": PEOPLE,
    "POST /api/posts/<post_id>/revisions/<revision_id>/revert": EDITORS,
    "GET /api/posts/<post_id>/provenance": PEOPLE,
    "GET /api/public/posts": ALL,
    "GET /api/public/posts/<post_id>": ALL,
    "GET /api/public/resolve": ALL,
}

# Past the first question, a translator is refused by the service on an original that is live.
TRANSLATION_ONLY: Final = frozenset(
    {
        "PUT /api/posts/<post_id>",
        "PUT /api/post-modules/<module_id>",
        "PUT /api/posts/<post_id>/review",
    }
)
BODIES: Final[dict[str, Any]] = {
    "PUT /api/posts/<post_id>": {"title": "Walked"},
    "PUT /api/posts/<post_id>/review": {"title": "Walked"},
    "PUT /api/post-modules/<module_id>": {"props": {"title": "Walked"}},
    "POST /api/posts": {"type": "blog", "title": "Walked"},
    "POST /api/posts/<post_id>/modules": {"type": "callout"},
}


def test_every_address_is_in_the_table_and_declares_its_permissions() -> None:
    found = {f"{method} {address.path}" for address in addresses() for method in address.methods}

    assert found == set(WHO)
    for address in addresses():
        if address.path == "/api/schema/":
            continue
        for action in address.actions.values():
            declared = address.view.permissions[action]
            names = {declared} if isinstance(declared, str) else set(declared)
            public = names & {PUBLIC, SECRET}
            assert bool(public) == (address.path.startswith(("/api/public/", "/api/auth/log"))), (
                address
            )
            assert names - {PUBLIC, SECRET, SIGNED_IN} or public or SIGNED_IN in names


@pytest.fixture
def post() -> Post:
    """A post with something in every layer."""
    found = make.post()
    make.staged(found, {"excerpt": "From an agent"})
    make.staged(found, {"metaTitle": "From an editor"}, layer=Layer.REVIEW)
    return found


def _path(pattern: str, post: Post) -> str:
    revision = post.revisions.first()
    assert revision is not None
    return (
        pattern.replace("<post_id>", str(post.pk))
        .replace("<module_id>", make.module_id(post, "hero"))
        .replace("<revision_id>", str(revision.pk))
        .replace("<agent_id>", "no-such-agent")
        .replace("<run_id>", "00000000-0000-4000-8000-000000000000")
    )


@pytest.mark.parametrize("role", ROLES, ids=str)
@pytest.mark.parametrize("address", sorted(WHO))
def test_each_role_gets_what_the_contract_says(address: str, role: str | None, post: Post) -> None:
    method, pattern = address.split(" ")
    before = make.live_hash()
    client = ApiClient(role)

    response = client.send(
        method, _path(pattern, post), BODIES.get(address) if method != "GET" else None
    )

    if role not in WHO[address]:
        expected = 401 if role in (None, "ai_agent") or pattern.startswith("/api/public/") else 403
        assert response.status_code == expected, response.content
        assert set(response.json()) == {"error", "code", "details"}
        assert make.live_hash() == before
    elif role == "translator" and address in TRANSLATION_ONLY:
        assert response.status_code == 403, response.content
        assert make.live_hash() == before
    elif address == "POST /api/auth/login":
        assert response.status_code == 422
    else:
        assert response.status_code not in (401, 403, 405, 500), response.content
    if method == "GET":
        assert make.live_hash() == before


@pytest.mark.parametrize("role", ROLES, ids=str)
def test_nobody_sees_what_is_staged_in_public(role: str | None, post: Post) -> None:
    client = ApiClient(role)

    for path in (
        "/api/public/posts",
        f"/api/public/posts/{post.pk}",
        f"/api/public/resolve?path={post.path}",
    ):
        content = client.get(path).content
        assert post.title.encode() in content
        for word in (b"From an", b"eview", b"layers"):
            assert word not in content, (path, word)


def test_threat_06_a_revision_of_another_post_is_not_there(post: Post) -> None:
    other = make.post("Another one", slug="another")
    foreign = other.revisions.get()
    own = post.revisions.first()
    assert own is not None
    editor = ApiClient("editor")
    url = f"/api/posts/{post.pk}/revisions"

    editor.read(f"{url}/{foreign.pk}", expect=404)
    editor.write("POST", f"{url}/{foreign.pk}/revert", expect=404)
    editor.read(f"{url}/compare?from={own.pk}&to={foreign.pk}", expect=404)
    editor.read(f"{url}/compare?from={foreign.pk}&to={own.pk}", expect=404)
    editor.read(f"{url}/compare?from={own.pk}", expect=422)


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_threat_16_what_is_not_published_is_nowhere_in_public(status: str) -> None:
    post = make.post("A secret title", slug="a-secret")
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"status": status})

    for path in (
        f"/api/public/posts/{post.pk}",
        "/api/public/resolve?path=/blog/a-secret",
        "/blog/a-secret",
    ):
        response = ApiClient().get(path)
        assert response.status_code == 404
        assert b"A secret title" not in response.content
    listed = ApiClient().read("/api/public/posts")
    assert listed["data"] == []
