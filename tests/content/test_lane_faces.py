"""Invariants of the layers that an interface could break.

Admin, REST and AI clients behave the same, and visitors see nothing staged.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.models import Layer, Post
from content.store import document_edits
from content.tools.stage_changes import Submit, submit_ai_review_to_review
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
CANARY = "canary-7391"


def _prepared(title: str) -> Post:
    """Create a post with a field, a prop, a new module, a move and terms staged by an agent."""
    post = make.post(title, slug=title.lower())
    prose, faq = make.module_id(post, "prose"), make.module_id(post, "faq")
    term = str(make.term("Coffee").pk)

    def edit(document: Any) -> Any:
        document = document_edits.patch_fields(
            document, {"excerpt": "Staged", "taxonomyTermIds": [term]}
        )
        document = document_edits.update_module(document, prose, content_markdown="New **words**")
        document = document_edits.update_module(document, faq, index=1)
        return document_edits.add_module(document, type="callout", props={"title": "Also"})[0]

    make.staged(post, edit=edit)
    return post


def _shape(post: Post) -> object:
    """Return the live document without parts that differ between posts."""
    document = make.layers(post).live.to_json()
    fields = dict(document["post"]) | {"title": "", "slug": ""}
    modules = [
        (m["type"], m["props"] if m["type"] != "hero" else None) for m in document["modules"]
    ]
    return fields, modules, document["taxonomyTermIds"]


def _by_admin(post: Post, layer: str, action: str) -> None:
    client = Client()
    client.force_login(make.user("editor"))
    page = f"/admin/content/post/{post.pk}/review/?layer={layer}"
    view = make.layers(post).view(Layer(layer))
    from content.layers import digest_of

    sent = dict.fromkeys(view.changes.paths, "accept")
    answer = client.post(page, {**sent, "digest": digest_of(view.changes), "action": action})
    assert answer.status_code == 302, answer.content[:500]


def test_lane_12_submit_and_approve_give_the_same_through_every_face() -> None:
    one, two, three = (_prepared(title) for title in ("Admin", "Rest", "Mcp"))
    editor = ApiClient("editor")

    _by_admin(one, "ai-review", "submit")
    editor.write("POST", f"/api/posts/{two.pk}/ai-review/submit")
    submit_ai_review_to_review(make.mcp_actor(), Submit(post_id=three.pk))
    _by_admin(one, "review", "approve")
    for post in (two, three):
        digest = editor.read(f"/api/posts/{post.pk}/changes")["digest"]
        editor.write("POST", f"/api/posts/{post.pk}/review/approve", {"digest": digest})

    assert _shape(one) == _shape(two) == _shape(three)
    assert [module.type for module in make.layers(one).live.modules] == [
        "hero",
        "faq",
        "prose",
        "callout",
    ]
    for post in (one, two, three):
        assert not make.layers(post).review.exists
        assert not make.layers(post).ai_review.exists


def test_lane_15_nothing_staged_is_seen_from_outside() -> None:
    post, other = make.post("Visible"), make.post("Other")
    for layer in (Layer.AI_REVIEW, Layer.REVIEW):
        make.staged(
            post,
            {"title": f"{CANARY} title", "slug": f"{CANARY}-slug", "excerpt": CANARY},
            layer=layer,
        )
        make.staged_addition(post, type="callout", props={"title": CANARY}, layer=layer)
    client = Client()

    for path in (
        f"/api/public/posts/{post.pk}",
        f"/api/public/posts/{other.pk}",
        f"/api/public/posts?search={CANARY}",
        f"/api/public/posts?slug={CANARY}-slug",
        "/api/public/posts?hasReview=true",
        "/api/public/posts?hasAiReview=true&status=draft",
        "/api/public/posts?fields=aiReviewProps,reviewProps&layer=ai-review&allLocales=true",
        "/api/public/posts?ordering=title",
        "/api/public/resolve?path=/blog/visible",
        "/blog/visible",
        "/blog/visible?layer=ai-review&preview=1",
        "/blog",
        "/blog/",
        "/",
    ):
        answer = client.get(path)
        assert CANARY not in answer.content.decode(), path
        # 422 quotes the parameter that it refuses.
        assert b"eview" not in answer.content or answer.status_code in (200, 422), path
    assert client.get(f"/api/public/resolve?path=/blog/{CANARY}-slug").status_code == 404
    assert client.get(f"/blog/{CANARY}-slug").status_code == 404


def test_lane_15_a_staged_value_cannot_be_guessed_through_public_filters() -> None:
    post = make.post("Visible")
    client = Client()
    before = client.get("/api/public/posts?hasAiReview=true").json()
    make.staged(post, {"title": CANARY})

    after = client.get("/api/public/posts?hasAiReview=true").json()

    assert after == before


def test_lane_15_an_etag_does_not_move_with_what_is_staged() -> None:
    post = make.post("Visible")
    client = Client()
    before = client.get(f"/api/public/posts/{post.pk}")["ETag"]

    make.staged(post, {"title": CANARY})

    assert client.get(f"/api/public/posts/{post.pk}")["ETag"] == before


def test_lane_21_a_proposed_post_is_nowhere_public() -> None:
    from content.posts.create import propose_post

    proposed = propose_post(
        actor=make.agent_actor(), type="blog", fields={"title": CANARY, "slug": CANARY}
    )
    client = Client()

    assert client.get(f"/api/public/posts/{proposed.post.pk}").status_code == 404
    for path in (
        "/blog",
        "/blog/",
        f"/blog/{CANARY}",
        f"/blog/{proposed.post.slug}",
        "/api/public/posts",
    ):
        assert CANARY not in client.get(path).content.decode()
    listed = ApiClient("editor").read("/api/posts?status=draft")["data"]
    assert [row["title"] for row in listed] == ["Proposed by an agent"]
