"""Preview links: content, recipients, expiry, and hidden information."""

from __future__ import annotations

import hmac
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from content.document.document import PostDocument
from content.models import Layer, Post
from content.posts.create import propose_post
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from content.store import document_edits
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import create_preview_link, open_preview, revoke_preview_link
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def link_to(post: Post, layer: str = "source", **body: Any) -> str:
    """Return the path of a new link."""
    answer = ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/preview-links", {"layer": layer, **body}, expect=201
    )
    url: str = answer["url"]
    assert url.startswith("http://127.0.0.1:8000/preview/")
    return urlsplit(url).path


def shown(path: str, status: int = 200) -> Any:
    response = Client().get(path)
    assert response.status_code == status, response.content[:300]
    return response


def test_a_link_shows_the_current_state_of_each_layer() -> None:
    post = make.post("Live title", status="draft")
    prose = make.module_id(post, "prose")
    for layer, word in ((Layer.REVIEW, "Reviewword"), (Layer.AI_REVIEW, "Agentword")):

        def write(document: PostDocument, word: str = word) -> PostDocument:
            document = document_edits.patch_fields(document, {"title": f"{word} title"})
            return document_edits.update_module(document, prose, content_markdown=f"{word} body")

        make.staged(post, layer=layer, edit=write)
    make.staged_addition(post, type="callout", props={"title": "Agentcallout"})

    pages = {
        layer: shown(link_to(post, layer)).content.decode()
        for layer in ("source", "review", "ai-review")
    }

    assert "Grind the beans." in pages["source"]
    assert "Reviewword" not in pages["source"]
    assert "Agentword" not in pages["source"]
    assert "<title>Reviewword title" in pages["review"]
    assert "Reviewword body" in pages["review"]
    assert "Agent" not in pages["review"]
    assert "Agentword body" in pages["ai-review"]
    assert "Agentcallout" in pages["ai-review"]
    assert "AI Review" in pages["ai-review"]
    assert b"Agentword" not in Client().get(post.path).content


def test_a_later_change_shows_without_another_link() -> None:
    post = make.post()
    path = link_to(post, "review")

    make.staged(post, {"title": "Changed since"}, layer=Layer.REVIEW)

    assert b"<title>Changed since" in shown(path).content


def test_a_variation_is_shown_as_its_original_would_look() -> None:
    post = make.post()
    made = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    make.edited(made, {"title": "Variation B"})

    page = shown(link_to(made)).content.decode()

    assert "<title>Variation B" in page
    assert f'<link rel="canonical" href="http://127.0.0.1:8000{post.path}">' in page


def test_shared_modules_terms_and_overrides_are_shown() -> None:
    shared = make.global_module(ctaLabel="Shared label", ctaUrl="https://example.com")
    post = make.post(taxonomyTermIds=[str(make.term("Coffee").pk)])
    make.staged_addition(
        post,
        type="callout",
        shared=("newsletter", str(shared.pk)),
        props={"title": "Title of this post"},
        layer=Layer.REVIEW,
    )

    page = shown(link_to(post, "review")).content

    assert b"Title of this post" in page
    assert b"Shared label" in page
    assert b"Coffee" in page
    assert b"Title of this post" not in shown(link_to(post, "source")).content


def test_what_an_agent_proposes_can_be_seen_before_anybody_approved_it() -> None:
    proposed = propose_post(
        actor=make.agent_actor(), type="blog", fields={"title": "Proposed title"}
    )

    assert b"Proposed title" in shown(link_to(proposed.post, "ai-review")).content


def test_threat_39_no_cache_no_index_no_referrer_no_script() -> None:
    response = shown(link_to(make.post()))

    assert response["Cache-Control"] == "no-store"
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert response["Referrer-Policy"] == "no-referrer"
    assert b'<meta name="robots" content="noindex, nofollow">' in response.content
    policy = response["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "ETag" not in response
    assert not response.cookies


def test_threat_47_what_opens_a_link_is_long_random_and_kept_nowhere() -> None:
    post = make.post()
    link, token = create_preview_link(post_id=post.pk, layer="source", actor=make.actor())
    other = create_preview_link(post_id=post.pk, layer="source", actor=make.actor())[1]

    assert len(token) == 43  # 256 bits
    assert token != other
    stored = str(list(PreviewLink.objects.values())) + str(list(Event.objects.values()))
    assert token not in stored
    assert open_preview(link.token_hash) is None
    for wrong in ("", token[:-1], token + "x", token.swapcase(), "x" * 43, "\x00" * 43, "ä" * 43):
        assert open_preview(wrong) is None
    opened = open_preview(token)
    assert opened is not None
    assert opened.link.pk == link.pk


def test_threat_47_hashes_are_compared_in_constant_time(monkeypatch: Any) -> None:
    _, token = create_preview_link(post_id=make.post().pk, layer="source", actor=make.actor())
    monkeypatch.setattr(hmac, "compare_digest", lambda one, other: False)

    assert open_preview(token) is None


def test_whatever_opens_nothing_answers_the_same() -> None:
    post, gone = make.post(), make.post("Gone", slug="gone")
    revoked, expired, deleted = link_to(post), link_to(post), link_to(gone)
    first, second, _ = PreviewLink.objects.order_by("created_at")
    revoke_preview_link(post_id=post.pk, link_id=first.pk, actor=make.actor())
    PreviewLink.objects.filter(pk=second.pk).update(expires_at=timezone.now())
    delete_post(post_id=gone.pk, actor=make.actor())

    answers = [
        shown(path, 404)
        for path in (revoked, expired, deleted, "/preview/" + "x" * 43, "/preview/x")
    ]

    assert len({answer.content for answer in answers}) == 1
    assert {answer["Cache-Control"] for answer in answers} == {"no-store"}
    assert len({tuple(sorted(answer.headers)) for answer in answers}) == 1


@pytest.mark.parametrize("hours", [1, 24, 720])
def test_a_link_ends_when_it_said(hours: int) -> None:
    before = timezone.now()

    link, _ = create_preview_link(
        post_id=make.post().pk, layer="review", actor=make.actor(), hours=hours
    )

    assert timedelta(0) <= link.expires_at - before - timedelta(hours=hours) < timedelta(minutes=5)


@pytest.mark.parametrize(
    "body",
    [
        {"expiresInHours": 0},
        {"expiresInHours": True},
        {"expiresInHours": "24"},
        {"expiresInHours": 1.5},
        {"expiresInHours": 2**53},
        {"layer": "live"},
        {"layer": None},
        {"layer": "\x00"},
        {"nonsense": 1},
    ],
    ids=str,
)
def test_what_is_no_link_is_refused(body: dict[str, Any]) -> None:
    post = make.post()

    answer = ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/preview-links", body, expect=422
    )

    assert list(answer["details"]) == list(body)
    assert not PreviewLink.objects.exists()


def test_hours_and_layer_are_judged_by_the_service_as_well() -> None:
    post = make.post()

    for words in ({"hours": 0}, {"hours": 721}, {"hours": True}, {"layer": "live"}):
        with pytest.raises(RuleViolation):
            create_preview_link(post_id=post.pk, actor=make.actor(), **{"layer": "review", **words})
    assert not PreviewLink.objects.exists()


def test_views_are_counted_and_the_list_names_no_address() -> None:
    post = make.post()
    path = link_to(post, "review")
    for _ in range(3):
        shown(path)
    Client().head(path)
    Client().post(path)

    rows = ApiClient("editor").read(f"/api/posts/{post.pk}/preview-links")["data"]

    assert len(rows) == 1
    assert set(rows[0]) == {"id", "layer", "expiresAt", "createdBy", "views", "createdAt"}
    assert (rows[0]["layer"], rows[0]["views"]) == ("review", 3)
    assert rows[0]["createdBy"]["username"] == "editor"
    assert path.rpartition("/")[2] not in str(rows)


def test_opening_changes_nothing_but_the_count() -> None:
    post = make.post()
    make.staged(post, {"title": "Waits"}, layer=Layer.REVIEW)
    path = link_to(post, "review")
    before, drafts = make.live_hash(), make.layers(post).review.version

    shown(path)

    assert make.live_hash() == before
    assert make.layers(post).review.version == drafts
    assert Client().post(path, {"title": "From outside"}).status_code in (403, 405)


def test_threat_06_a_link_of_another_post_is_not_there() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    link, token = create_preview_link(post_id=other.pk, layer="source", actor=make.actor())

    ApiClient("editor").write("DELETE", f"/api/posts/{post.pk}/preview-links/{link.pk}", expect=404)

    assert open_preview(token) is not None
    ApiClient("editor").write("DELETE", f"/api/posts/{other.pk}/preview-links/{link.pk}")
    assert open_preview(token) is None
    with pytest.raises(NotFound):
        revoke_preview_link(post_id=other.pk, link_id=link.pk, actor=make.actor())


def test_threat_03_who_may_not_preview_makes_no_link() -> None:
    post = make.post()

    with pytest.raises(NotAllowed):
        create_preview_link(post_id=post.pk, layer="review", actor=make.actor("translator"))
    assert not PreviewLink.objects.exists()
    link, _ = create_preview_link(post_id=post.pk, layer="ai-review", actor=make.agent_actor())
    assert link.created_by_name == "agent:seo-specialist"


def test_threat_03_a_preview_shows_that_one_post_only() -> None:
    secret = make.post("Secretword", slug="secret", status="draft")
    make.staged(secret, {"title": "Secretword staged"})
    post = make.post("Plain", slug="plain", translation_of=None)
    german = make.post("Secretword", locale="de", translation_of=post, status="draft")

    page = shown(link_to(post, "ai-review")).content

    assert b"Secretword" not in page
    assert str(german.pk).encode() not in page


def test_visitors_can_ask_so_often(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "2/hour"}
    path = link_to(make.post())

    statuses = [Client().get(path).status_code for _ in range(4)]

    assert statuses == [200, 200, 429, 429]
    assert PreviewLink.objects.get().views == 2
