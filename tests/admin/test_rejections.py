"""A rejection stores and shows its note; an approval does not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents_app.models import AgentRun
from content.models import Layer, Post, Revision
from proofroom.core.models import Event
from proofroom_apps.editorial.review.confirmations import rejected_message
from tests import make
from tests.admin.pages import fields, review, url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def staged(layer: Layer, run: AgentRun | None = None, title: str = "Coffee") -> Post:
    post = run.post if run and run.post else make.post(title, excerpt="Old excerpt")
    by = make.agent_actor(run_id=str(run.pk)) if run else None
    make.staged(post, {"title": "New title", "excerpt": "New excerpt"}, layer=layer, by=by)
    return post


def decide(client: Client, post: Post, layer: str, action: str, **more: str) -> Any:
    sent = fields(client.get(review(post, layer)), "digest")
    return client.post(review(post, layer), {**sent, "action": action, **more})


BOTH = {"post.title": "accept", "post.excerpt": "reject"}


def test_the_note_of_a_rejection_is_not_the_approvals(signed_in: SignedIn) -> None:
    post = staged(Layer.REVIEW)

    decide(signed_in(), post, "review", "approve", note="Too long", **BOTH)

    assert Event.objects.get(name="post.review.reject").payload["note"] == "Too long"
    assert Revision.objects.get(post=post, reason="approved").note == ""


def test_the_note_of_a_rejection_is_not_carried_to_review(signed_in: SignedIn) -> None:
    post = staged(Layer.AI_REVIEW)

    decide(signed_in(), post, "ai-review", "submit", note="Too long", **BOTH)

    assert Event.objects.get(name="post.ai-review.reject").payload["note"] == "Too long"
    assert Event.objects.get(name="post.ai-review.approve").payload["note"] == ""
    assert make.layers(post).review.marks["post.title"].note == ""


def test_without_a_rejection_the_note_is_the_approvals(signed_in: SignedIn) -> None:
    post = staged(Layer.REVIEW)

    decide(signed_in(), post, "review", "approve", note="Good", **{"post.title": "accept"})

    assert Revision.objects.get(post=post, reason="approved").note == "Good"


def test_the_revisions_page_lists_rejections_by_label_with_who_and_why(signed_in: SignedIn) -> None:
    post, other = staged(Layer.AI_REVIEW), staged(Layer.REVIEW, title="Tea")
    client = signed_in()
    assert "Rejected" not in client.get(url(post, "revisions")).content.decode()
    decide(client, post, "ai-review", "reject", note="Too <long>", **{"post.excerpt": "reject"})
    decide(client, other, "review", "reject", note="Elsewhere", **{"post.title": "reject"})

    page = client.get(url(post, "revisions")).content.decode()

    section = page[page.index(">Rejected<") :]
    event = Event.objects.get(name="post.ai-review.reject")
    for part in (
        "AI Review",
        "Excerpt",
        "Too &lt;long&gt;",
        "editor",
        f"{event.created_at:%Y-%m-%d %H:%M}",
    ):
        assert part in section
    assert "Elsewhere" not in page


def test_a_run_shows_what_of_it_was_rejected_and_how_long_it_took(signed_in: SignedIn) -> None:
    now = timezone.now()
    run = AgentRun.objects.create(
        agent_id="seo-specialist",
        scope="dropdown",
        post=make.post(excerpt="Old excerpt"),
        by_name="editor",
        via="admin",
        status="succeeded",
        staged=["post.title", "post.excerpt"],
        started_at=now,
        finished_at=now + timedelta(seconds=83),
    )
    post = staged(Layer.AI_REVIEW, run)
    client = signed_in()
    address = f"/admin/agents_app/agentrun/{run.pk}/change/"
    before = client.get(address).content.decode()
    decide(client, post, "ai-review", "reject", note="Not this", **{"post.excerpt": "reject"})
    make.staged(post, {"metaTitle": "By a person"}, by=make.actor("editor"))
    decide(client, post, "ai-review", "reject", note="Mine", **{"post.metaTitle": "reject"})

    after = client.get(address).content.decode()

    assert ">Rejected<" not in before
    assert "1 min 23 s" in before
    assert "Not this" in after[after.index(">Rejected<") :]
    assert "Mine" not in after


def test_a_rejection_is_taken_back_from_its_message_and_from_its_page(signed_in: SignedIn) -> None:
    post = staged(Layer.AI_REVIEW)
    client = signed_in()
    make.staged(post, {"excerpt": "<b>Proposed</b> words"})
    drop = {"post.title": "reject", "post.excerpt": "reject"}

    told = decide(client, post, "ai-review", "reject", **drop)
    page = client.get(told["Location"]).content.decode()

    address = url(post, f"rejections/{Event.objects.get(name='post.ai-review.reject').pk}")
    assert f'<button type="submit" form="message-form" formaction="{address}">' in page
    assert '<form method="post" id="message-form" hidden>' in page
    shown = client.get(address).content.decode()
    assert "&lt;b&gt;Proposed&lt;/b&gt;" in shown
    assert 'name="path" value="post.title" checked' in shown
    assert client.post(address, {"chosen": "1"})["Location"] == address
    assert not make.layers(post).ai_review.exists

    one = client.post(address, {"chosen": "1", "path": "post.excerpt"})
    again = client.get(url(post, "revisions")).content.decode()
    rest = client.post(address)

    assert one["Location"] == rest["Location"] == review(post, "ai-review")
    assert "undone by editor" in again
    assert make.layers(post).ai_review.changes.paths == ("post.title", "post.excerpt")
    assert "This has already been undone." in client.post(address, follow=True).content.decode()
    assert address not in client.get(url(post, "revisions")).content.decode()


def test_more_rejections_than_an_address_can_name_have_no_button_that_leads_nowhere() -> None:
    post = Post(pk="00000000-0000-4000-8000-000000000001")

    many, more = (rejected_message(post, 9, range(1, 1 + count)) for count in (200, 201))

    assert ">Undo<" in many
    assert ">Undo<" not in more


def test_a_rejection_is_read_by_all_and_taken_back_by_who_may_reject(signed_in: SignedIn) -> None:
    post, other = staged(Layer.AI_REVIEW), make.post("Tea")
    decide(signed_in(), post, "ai-review", "reject", **{"post.title": "reject"})
    address = url(post, f"rejections/{Event.objects.get(name='post.ai-review.reject').pk}")
    other_event = (
        Event.objects.filter(post_id=post.pk).exclude(name="post.ai-review.reject").first()
    )
    assert other_event is not None
    Event.objects.filter(pk=other_event.pk).update(payload={"note": "Of something else"})
    translator = signed_in("translator")

    html = translator.get(address.rstrip("/") + f",{other_event.pk}/").content.decode()
    assert "Rejected by editor" in html
    assert "Of something else" not in html
    assert "Restore selected changes" not in translator.get(address).content.decode()
    assert translator.post(address).status_code == 403
    elsewhere = address.replace(str(post.pk), str(other.pk))
    wrong = (elsewhere, url(post, "rejections/0"), url(post, f"rejections/{'9' * 30}"))
    assert [signed_in().get(one).status_code for one in wrong] == [404, 404, 404]
    assert make.layers(post).ai_review.changes.paths == ("post.excerpt",)
