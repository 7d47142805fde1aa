"""Generated canonical URLs, and the sitemap's status and rebuild."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.models import Layer, Post
from content.posts import canonical_urls
from content.posts.canonical_urls import set_missing_canonicals
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from seo import sitemap
from tests import make
from tests.api_client import ApiClient
from tests.seo.protocol import urls_of

pytestmark = pytest.mark.django_db
SITE = "http://127.0.0.1:8000"


def found() -> dict[str, str | None]:
    return dict(Post.objects.values_list("slug", "canonical_url"))


def test_posts_without_one_are_given_their_own() -> None:
    make.post(slug="live")
    make.post("Entwurf", slug="entwurf", locale="de", status="draft")
    make.post("Else", slug="else", canonicalUrl="https://other.example/")
    gone = make.post("Gone", slug="gone")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    waiting = make.post("Waiting", slug="waiting", status="draft")
    Post.objects.filter(pk=waiting.pk).update(is_placeholder=True)
    client = ApiClient("admin")

    assert client.write("POST", "/api/seo/canonical-urls/populate") == {"updated": 2}
    assert found() == {
        "live": f"{SITE}/blog/live",
        "entwurf": f"{SITE}/de/blog/entwurf",
        "else": "https://other.example/",
        "gone": None,
        "waiting": None,
    }
    assert client.write("POST", "/api/seo/canonical-urls/populate") == {"updated": 0}


def test_each_has_a_revision_a_version_and_an_event() -> None:
    post = make.post(slug="live")
    before, version = content_version(), post.version

    set_missing_canonicals(actor=make.actor("admin"))

    post.refresh_from_db()
    assert post.version == version + 1
    revision = post.revisions.latest("version")
    assert (revision.version, revision.changed_paths) == (post.version, ["post.canonicalUrl"])
    event = Event.objects.filter(name="post.updated").latest("id")
    assert event.payload["changedPaths"] == ["post.canonicalUrl"]
    assert content_version() > before
    assert not Event.objects.filter(name="post.approve", pk__gte=event.pk - 1).exists()


def test_what_is_staged_stays() -> None:
    post = make.post(slug="live")
    make.staged(post, {"excerpt": "From an agent"})
    make.staged(post, {"metaTitle": "From a person"}, layer=Layer.REVIEW)

    set_missing_canonicals(actor=make.actor("admin"))

    layers = make.layers(post)
    assert layers.ai_review.changes.paths == ("post.excerpt",)
    assert layers.review.changes.paths == ("post.metaTitle",)


def test_a_variation_has_none_of_its_own() -> None:
    post = make.post(slug="live")
    other = create_variation(post_id=post.pk, variation="B", actor=make.actor())

    assert set_missing_canonicals(actor=make.actor("admin")) == 1
    assert Post.objects.get(pk=other.pk).canonical_url is None


def test_one_call_works_for_some_time_and_the_next_goes_on(monkeypatch: Any) -> None:
    for number in range(3):
        make.post(f"Post {number}", slug=f"p{number}")
    monkeypatch.setattr(canonical_urls, "BATCH_SIZE", 2)
    monkeypatch.setattr(canonical_urls, "SECONDS", 0.0)

    assert [set_missing_canonicals(actor=make.actor("admin")) for _ in range(3)] == [2, 1, 0]


def test_only_people_who_manage_seo_do_it() -> None:
    make.post(slug="live")
    for actor in (make.actor("editor"), make.mcp_actor("admin"), make.agent_actor()):
        with pytest.raises(NotAllowed):
            set_missing_canonicals(actor=actor)
    assert found() == {"live": None}


def test_the_status_shows_the_cached_sitemap_and_a_rebuild_renews_it() -> None:
    client = ApiClient("admin")
    nothing = {"urls": 0, "builtAt": None, "cached": False, "parts": 0}
    assert client.read("/api/seo/sitemap/status") == nothing
    make.post(slug="one")
    Client().get("/sitemap.xml")
    make.post("Two", slug="two")
    first = client.read("/api/seo/sitemap/status")
    assert (first["urls"], first["cached"], first["parts"]) == (1, True, 1)

    rebuilt = client.write("POST", "/api/seo/sitemap/rebuild")

    assert (rebuilt["urls"], rebuilt["cached"], rebuilt["parts"]) == (2, True, 1)
    assert client.read("/api/seo/sitemap/status") == rebuilt
    assert len(urls_of(Client().get("/sitemap.xml").getvalue())) == 2
    event = Event.objects.get(name="sitemap.rebuilt")
    assert event.payload == {"urls": 2, "parts": 1}


def test_a_second_concurrent_rebuild_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr(sitemap, "_WAIT_SECONDS", 0.1)

    with sitemap.build_lock("http://testserver"):
        answer = ApiClient("admin").write("POST", "/api/seo/sitemap/rebuild", expect=409)

    assert answer["code"] == "sitemap_busy"
    assert Event.objects.filter(name="sitemap.rebuilt").count() == 0
