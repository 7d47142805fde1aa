"""Every endpoint × a role with another content scope: a hidden id answers like an unknown one."""

from __future__ import annotations

import re
from typing import Any, Final
from uuid import uuid4

import pytest

from content.models import Post
from proofroom.core.caching.answer_cache import answers
from proofroom.core.content_scope import ContentScope
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import Area, Endpoint, areas, filled
from tests.contract.test_scope_walk import LIMITABLE, PAGES, SHARED

pytestmark = pytest.mark.django_db
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_GAP: Final = re.compile(r"<\w+>")
UNLIMITED: Final = (
    *SHARED,
    "/api/media",
    "/api/taxonom",
    "/api/public",
    "/api/agents/",
    "/api/briefs",
    "/api/post-templates/",
    "/api/snippets",
    "/api/forms",
)
"""Visible to every role with the permission: shared files, terms, agents, briefs, snippets, templates and forms."""


def calls() -> list[Any]:
    """Return the endpoints with an id in the URL or body."""
    return [
        pytest.param(area, item, id=item.address)
        for area in areas()
        for item in area.endpoints
        if _GAP.search(f"{item.path} {item.query} {item.body}")
        and not item.path.startswith(UNLIMITED)
        and not item.is_multipart
    ]


def answer(client: ApiClient, endpoint: Endpoint, names: dict[str, Any], body: Any) -> Any:
    """Return the status and the text of the response, without ids."""
    answers.clear()
    path = filled(endpoint.path, names) + filled(endpoint.query, names)
    response = client.send(endpoint.method, path, filled(body, names))
    if response.streaming:
        return response.status_code, ""
    return response.status_code, _UUID.sub("<id>", response.content.decode("utf-8", "replace"))


@pytest.mark.parametrize(("area", "endpoint"), calls())
def test_a_hidden_id_answers_as_an_absent_one(area: Area, endpoint: Endpoint) -> None:
    names = area.scene()
    make.site_role("pages", *LIMITABLE, scope=PAGES)
    client = ApiClient("pages")
    absent = {
        name: str(uuid4()) if _UUID.fullmatch(str(value)) else value
        for name, value in names.items()
    }
    # Also with an invalid body: visibility is checked first.
    bodies = [endpoint.body, *([endpoint.invalid[0]] if endpoint.invalid else [])]

    for body in [*bodies, endpoint.stale]:
        assert answer(client, endpoint, names, body) == answer(client, endpoint, absent, body)


def section_role() -> ApiClient:
    root = make.post("Docs", type="page", slug="docs")
    make.site_role("docs", *LIMITABLE, scope=ContentScope(sections=frozenset({root.pk})))
    return ApiClient("docs")


def hidden_page(slug: str = "hidden", **fields: Any) -> Post:
    return make.post("Hidden", type="page", slug=slug, status="draft", **fields)


def same(client: ApiClient, method: str, path: str, hidden: Any, absent: Any) -> tuple[int, str]:
    """Compare the answer for a hidden object with the one for a missing one."""
    found = []
    for body in (hidden, absent):
        response = client.send(method, path, body)
        text = _UUID.sub("<id>", response.content.decode()).replace("hidden", "<slug>")
        found.append((response.status_code, text.replace("absent", "<slug>")))
    assert found[0] == found[1]
    return found[0]


def test_a_slug_outside_of_the_section_is_outside_whether_it_is_taken_or_not() -> None:
    client = section_role()
    hidden_page()
    body = {"type": "page", "title": "New"}

    status, text = same(
        client, "POST", "/api/posts", {**body, "slug": "hidden"}, {**body, "slug": "absent"}
    )

    assert (status, "outside_of_scope" in text) == (403, True)


def test_a_slug_of_another_type_or_language_is_outside_whether_it_is_taken_or_not() -> None:
    make.site_role(
        "pages",
        *LIMITABLE,
        scope=ContentScope(types=frozenset({"page"}), locales=frozenset({"en"})),
    )
    client = ApiClient("pages")
    make.post("Hidden", slug="hidden", status="draft")
    make.post("Hidden", type="page", locale="de", slug="hidden", status="draft")

    for body in (
        {"type": "blog", "title": "New"},
        {"type": "page", "locale": "de", "title": "New"},
    ):
        found = same(
            client, "POST", "/api/posts", {**body, "slug": "hidden"}, {**body, "slug": "absent"}
        )
        assert (found[0], "outside_of_scope" in found[1]) == (403, True)


@pytest.mark.parametrize(
    ("limit", "status", "code"),
    [("section", 403, "outside_of_scope"), ("language", 422, "invalid")],
)
def test_a_hidden_parent_is_none_at_every_door(limit: str, status: int, code: str) -> None:
    client = section_role()
    hidden = hidden_page()
    if limit == "language":
        make.site_role("english", *LIMITABLE, scope=ContentScope(locales=frozenset({"en"})))
        client = ApiClient("english")
        hidden = make.post("Versteckt", type="page", locale="de", slug="hidden", status="draft")
    root = Post.objects.get(slug="docs")
    inside = make.post("Inside", type="page", slug="inside", parentId=str(root.pk))
    parents = [{"parentId": str(id_)} for id_ in (hidden.pk, uuid4())]
    new = {"type": "page", "title": "New"}

    for method, path, more in (
        ("POST", "/api/posts", new),
        ("PUT", f"/api/posts/{inside.pk}", {}),
        ("PUT", f"/api/posts/{inside.pk}/review", {}),
    ):
        bodies = [{**more, **parent} for parent in parents]
        found = same(client, method, path, *bodies)
        assert (found[0], f'"{code}"' in found[1]) == (status, True), path


def test_a_move_out_of_the_section_is_outside_before_any_rule() -> None:
    client = section_role()
    root = Post.objects.get(slug="docs")
    inside = make.post("Inside", type="page", slug="inside", parentId=str(root.pk))
    hidden_page()
    path = f"/api/posts/{inside.pk}"

    for door in (path, f"{path}/review"):
        bodies = [{"parentId": None, "slug": slug} for slug in ("hidden", "absent")]
        status, text = same(client, "PUT", door, *bodies)
        assert (status, "outside_of_scope" in text) == (403, True), door
    assert Post.objects.get(pk=inside.pk).path == "/docs/inside"


def test_a_translation_outside_is_outside_whether_there_is_one_or_not() -> None:
    make.site_role("english", *LIMITABLE, scope=ContentScope(locales=frozenset({"en"})))
    client = ApiClient("english")
    translated, other = make.post(slug="one"), make.post(slug="two")
    make.post("Versteckt", locale="de", slug="hidden", translation_of=translated, status="draft")

    found = [
        client.send("POST", f"/api/posts/{post.pk}/translations", {"locale": "de"})
        for post in (translated, other)
    ]

    assert [response.status_code for response in found] == [403, 403]
    assert found[0].content == found[1].content


def test_terms_outside_are_outside_before_a_slug_is_looked_for() -> None:
    term = make.term("Coffee")
    make.site_role("coffee", *LIMITABLE, scope=ContentScope(terms=frozenset({term.pk})))
    make.post("Hidden", slug="hidden", status="draft")
    body = {"type": "blog", "title": "New"}

    found = same(
        ApiClient("coffee"),
        "POST",
        "/api/posts",
        {**body, "slug": "hidden"},
        {**body, "slug": "absent"},
    )

    assert (found[0], "outside_of_scope" in found[1]) == (403, True)
