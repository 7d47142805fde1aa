from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.layers import digest_of
from content.models import Draft, Layer, Post, Provenance, Revision
from content.posts import decide as decisions
from content.store import document_edits
from mcp_bridge.access.tokens import create_token
from mcp_bridge.call_log import principal_of
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from tests import make
from tests.admin.pages import fields, review
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def decide(client: Client, post: Post, layer: str, action: str, **more: Any) -> Any:
    """Send the displayed form with these decisions."""
    sent = fields(client.get(review(post, layer)), "digest")
    return client.post(review(post, layer), {**sent, "action": action, **more})


def staged(layer: Layer = Layer.REVIEW) -> Post:
    post = make.post(excerpt="Old excerpt")
    make.staged(
        post, {"title": "New title", "excerpt": "New excerpt", "metaTitle": "New meta"}, layer=layer
    )
    return post


def test_submit_carries_the_accepted_and_drops_the_rejected_with_its_note(
    signed_in: SignedIn,
) -> None:
    post = staged(Layer.AI_REVIEW)
    before = make.live_hash()

    answer = decide(
        signed_in(),
        post,
        "ai-review",
        "submit",
        note="Too long",
        **{"post.title": "accept", "post.excerpt": "reject"},
    )

    assert answer.status_code == 302
    layers = make.layers(post)
    assert layers.review.changes.paths == ("post.title",)
    assert layers.ai_review.changes.paths == ("post.metaTitle",)
    assert make.live_hash() == before
    rejected = Event.objects.get(name="post.ai-review.reject")
    assert rejected.payload["paths"] == ["post.excerpt"]
    assert rejected.payload["note"] == "Too long"


def test_approve_brings_the_accepted_live_and_leaves_the_rest(signed_in: SignedIn) -> None:
    post = staged()

    answer = decide(
        signed_in(), post, "review", "approve", **{"post.title": "accept", "post.excerpt": "reject"}
    )

    assert answer.status_code == 302
    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("New title", "Old excerpt")
    assert make.layers(post).review.changes.paths == ("post.metaTitle",)
    assert Revision.objects.get(post=post, reason="approved").changed_paths == ["post.title"]
    assert Provenance.objects.filter(post=post, path="post.title").count() == 2


def test_a_change_without_a_writer_is_shown_and_decided_on(signed_in: SignedIn) -> None:
    post = staged()
    Draft.objects.filter(post=post).update(marks={})

    shown = signed_in().get(review(post, "review"))
    decide(signed_in(), post, "review", "approve", **{"post.title": "accept"})

    assert (shown.status_code, "New title" in shown.content.decode()) == (200, True)
    post.refresh_from_db()
    assert post.title == "New title"


def test_nothing_is_accepted_beforehand_and_approving_all_asks_first(signed_in: SignedIn) -> None:
    post = staged()
    client = signed_in()
    before = make.live_hash()

    asked = decide(client, post, "review", "approve")

    assert asked.status_code == 200
    assert "Approve all 3 changes?" in asked.content.decode()
    assert make.live_hash() == before
    sent = fields(asked, "digest")
    client.post(review(post, "review"), {**sent, "action": "approve"})
    post.refresh_from_db()
    assert (post.title, post.excerpt, post.meta_title) == ("New title", "New excerpt", "New meta")


def test_rejecting_all_asks_first_and_leaves_live_content_alone(signed_in: SignedIn) -> None:
    post = staged()
    client = signed_in()
    before = make.live_hash()

    asked = decide(client, post, "review", "reject", note="All wrong")
    assert make.layers(post).review.exists
    client.post(review(post, "review"), {**fields(asked, "digest"), "action": "reject"})

    assert not make.layers(post).review.exists
    assert make.live_hash() == before
    assert Event.objects.get(name="post.review.reject").payload["note"] == "All wrong"


def test_reject_takes_nothing_that_is_marked_accept(signed_in: SignedIn) -> None:
    post = staged()

    decide(
        signed_in(), post, "review", "reject", **{"post.title": "accept", "post.excerpt": "reject"}
    )

    post.refresh_from_db()
    assert post.title == "How to brew filter coffee"
    assert make.layers(post).review.changes.paths == ("post.title", "post.metaTitle")


def test_approve_with_rejections_only_is_refused_and_keeps_the_marks(signed_in: SignedIn) -> None:
    post = staged()

    answer = decide(signed_in(), post, "review", "approve", **{"post.title": "reject"})

    assert answer.status_code == 422
    assert fields(answer, "digest")["post.title"] == ["reject"]
    assert len(make.layers(post).review.changes) == 3


def test_a_stale_review_writes_nothing_names_what_moved_and_keeps_the_rest(
    signed_in: SignedIn,
) -> None:
    post = staged()
    client = signed_in()
    sent = fields(client.get(review(post, "review")), "digest")
    make.edited(post, {"title": "Edited live"}, by=make.actor("admin"))
    before = make.live_hash()

    marks = {"post.title": "accept", "post.excerpt": "accept", "post.metaTitle": "reject"}
    answer = client.post(
        review(post, "review"), {**sent, **marks, "action": "approve", "note": "Kept note"}
    )

    assert answer.status_code == 409
    assert make.live_hash() == before
    again = fields(answer, "digest")
    assert again["post.title"] == ["leave"]
    assert again["post.excerpt"] == ["accept"]
    assert again["post.metaTitle"] == ["reject"]
    assert again["note"] == ["Kept note"]
    page = answer.content.decode()
    assert "Check 1 of your 3 decisions again" in page
    assert '<li><a href="#c-post.title">Title</a></li>' in page
    assert "You had chosen Accept. Decide again." in page


def test_a_stale_rejection_in_ai_review_is_refused_too(signed_in: SignedIn) -> None:
    post = staged(Layer.AI_REVIEW)
    client = signed_in()
    sent = fields(client.get(review(post)), "digest")
    make.staged(post, {"excerpt": "Second thought"})

    answer = client.post(review(post), {**sent, "post.excerpt": "reject", "action": "reject"})

    assert answer.status_code == 409
    assert len(make.layers(post).ai_review.changes) == 3


def test_a_rejection_that_fails_takes_the_approval_back(monkeypatch: pytest.MonkeyPatch) -> None:
    post = staged()
    before = make.live_hash()
    monkeypatch.setattr("content.posts.decide.reject", lambda **_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        decisions.decide(
            post_id=post.pk,
            layer=Layer.REVIEW,
            actor=make.actor("editor", via="admin"),
            digest=digest_of(make.layers(post).review.changes),
            accept=["post.title"],
            refuse=["post.excerpt"],
        )

    assert make.live_hash() == before
    assert len(make.layers(post).review.changes) == 3


def test_a_conflict_with_a_persons_value_stays_in_ai_review_and_says_so(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    make.staged(post, {"title": "By a person"}, layer=Layer.REVIEW)
    make.staged(post, {"title": "By the agent"})
    client = signed_in()

    decide(client, post, "ai-review", "submit", **{"post.title": "accept"})

    page = client.get(review(post)).content.decode()
    assert "stayed in AI Review" in page
    assert "flag-conflict" in page
    assert make.layers(post).review.document.fields["title"] == "By a person"


@pytest.mark.parametrize("role", ["translator"])
def test_who_may_not_approve_reads_without_buttons_and_is_refused(
    signed_in: SignedIn, role: str
) -> None:
    post = staged()
    client = signed_in(role)
    before = make.live_hash()

    page = client.get(review(post, "review"))
    assert page.status_code == 200
    assert 'name="action"' not in page.content.decode()
    sent = fields(signed_in("editor").get(review(post, "review")), "digest")
    answer = client.post(
        review(post, "review"), {**sent, "post.title": "accept", "action": "approve"}
    )

    assert answer.status_code == 403
    assert make.live_hash() == before


def test_threat_40_a_decision_without_a_csrf_token_is_refused() -> None:
    post = staged()
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("editor"))
    sent = fields(client.get(review(post, "review")), "digest")
    del sent["csrfmiddlewaretoken"]

    answer = client.post(
        review(post, "review"), {**sent, "post.title": "accept", "action": "approve"}
    )

    assert answer.status_code == 403
    assert len(make.layers(post).review.changes) == 3


def _queries(client: Client, address: str) -> int:
    return page_queries(client, address)


def test_two_hundred_changes_take_no_more_queries_than_two(signed_in: SignedIn) -> None:
    client = signed_in()
    few, many = make.post("Few"), make.post("Many")
    make.staged(few, {"title": "Few changes"})
    make.staged_addition(few, type="callout", props={"title": "One"})

    def add(document: Any) -> Any:
        for number in range(200):
            document, _ = document_edits.add_module(
                document, type="callout", props={"title": f"No. {number}"}
            )
        return document

    make.staged(many, {"title": "Many changes"})
    make.staged(many, edit=add)
    client.get(review(few))

    counts = (_queries(client, review(few)), _queries(client, review(many)))

    assert counts[0] == counts[1]
    assert counts[0] <= 12


def test_the_empty_review_says_what_comes_here(signed_in: SignedIn) -> None:
    page = signed_in().get(review(make.post())).content.decode()

    assert "No changes in AI Review" in page
    assert "digest" not in page


def test_a_draft_that_outlived_its_definition_still_opens(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged_addition(post, type="callout", props={"title": "Gone"})
    draft = Draft.objects.get(post=post, layer=Layer.AI_REVIEW)
    draft.document["modules"][-1] |= {"type": "vanished", "props": {"old": {"deep": [1]}}}
    draft.save()

    page = signed_in().get(review(post))

    assert page.status_code == 200
    assert "vanished" in page.content.decode()


def test_a_card_names_the_ai_client_that_proposed(signed_in: SignedIn) -> None:
    post, editor = make.post(), make.user("editor")
    token, _secret = create_token(name="Cursor", user_id=editor.pk, actor=make.actor("admin"))
    client = Actor(user=editor, via="mcp", principal=principal_of(token))
    make.staged(post, {"excerpt": "New"}, by=client)
    make.staged(post, {"metaTitle": "New"}, by=make.mcp_actor("editor"))

    text = signed_in("editor").get(review(post, "ai-review")).content.decode()

    assert text.count("by the AI client Cursor") == 1
    assert text.count("by an AI client (MCP)") == 1
