"""Data visitors must never see, and ids that must not be mixed."""

from __future__ import annotations

import pytest

from content.models import Layer, Post
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import ROLES

pytestmark = pytest.mark.django_db


@pytest.fixture
def post() -> Post:
    """Create a post with changes in every layer."""
    found = make.post()
    make.staged(found, {"excerpt": "From an agent"})
    make.staged(found, {"metaTitle": "From an editor"}, layer=Layer.REVIEW)
    return found


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
