"""Approve and publish on the review page: the announcement, permissions, and the result."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from content.models import Layer, Post
from content.posts.publish import set_status
from tests import make
from tests.admin.pages import fields, review
from tests.admin.test_review import decide

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def primary_buttons(html: str) -> int:
    form = re.search(r'<form[^>]* id="review-form".*?</form>', html, re.DOTALL)
    return form[0].count('class="default"') if form else 0


def test_it_says_what_goes_live_where_and_what_stays(signed_in: SignedIn) -> None:
    post = make.post(status="draft", publishAt="2999-01-01T09:00:00Z")
    make.staged(post, {"title": "New", "slug": "moved"})
    make.staged(post, {"metaTitle": "A colleague's"}, layer=Layer.REVIEW)
    client = signed_in()

    page = client.get(review(post)).content.decode()

    assert "publishes this draft for the first time at /blog/how-to-brew-filter-coffee" in page
    assert 'data-moved-address="/blog/moved"' in page
    assert "Undecided changes stay here." in page
    assert "1 change in Review stays there." in page
    assert "It is published immediately instead" in page
    assert primary_buttons(page) == 0  # a slug needs a closer look first
    assert "1 change in AI Review" not in page
    below = client.get(review(post, "review")).content.decode()
    assert "2 changes in AI Review stay there." in below


def test_what_review_holds_too_is_named_as_held(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"title": "A colleague's"}, layer=Layer.REVIEW)
    make.staged(post, {"title": "An agent's", "excerpt": "An agent's"})
    client = signed_in()
    assert 'data-held="post.title"' in client.get(review(post)).content.decode()

    answer = decide(
        client, post, "ai-review", "publish", **{"post.title": "accept", "post.excerpt": "accept"}
    )

    assert answer.status_code == 409
    assert "Other changes to the same fields are waiting in Review." in answer.content.decode()
    assert fields(answer, "digest")["post.excerpt"] == ["accept"]
    assert make.layers(post).ai_review.changes.paths == ("post.title", "post.excerpt")


def test_ai_review_goes_live_in_one_step_and_says_so(signed_in: SignedIn) -> None:
    post = make.post(excerpt="Old")
    make.staged(post, {"title": "New", "excerpt": "Bad", "metaTitle": "Later"})
    client = signed_in()

    answer = decide(
        client, post, "ai-review", "publish", **{"post.title": "accept", "post.excerpt": "reject"}
    )

    assert answer["Location"] == review(post, "ai-review")
    told = client.get(answer["Location"]).content.decode()
    assert "1 change approved and live." in told
    assert "1 change rejected." in told
    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("New", "Old")
    assert make.layers(post).ai_review.changes.paths == ("post.metaTitle",)


def test_a_draft_in_review_is_published_and_all_of_it_asks_first(signed_in: SignedIn) -> None:
    post = make.post(status="draft")
    make.staged(post, {"title": "New", "excerpt": "Newer"}, layer=Layer.REVIEW)
    client = signed_in()

    asked = decide(client, post, "review", "publish")

    assert "Approve and publish all 2 changes?" in asked.content.decode()
    assert "for the first time at /blog/how-to-brew-filter-coffee" in asked.content.decode()
    assert Post.objects.get(pk=post.pk).status == "draft"
    sent = {**fields(asked, "digest"), "action": "publish"}
    told = client.post(review(post, "review"), sent, follow=True).content.decode()
    assert "2 changes approved, and the post is published." in told
    post.refresh_from_db()
    assert (post.title, post.status) == ("New", "published")


def test_it_is_offered_only_where_it_does_more_than_the_other_button(signed_in: SignedIn) -> None:
    live, archived = make.post(), make.post("Old", status="draft")
    make.staged(live, {"title": "New"}, layer=Layer.REVIEW)
    set_status(post_id=archived.pk, status="archived", actor=make.actor("admin"))
    make.staged(archived, {"title": "New"})
    draft = make.post("Draft", status="draft")
    make.staged(draft, {"title": "New"}, layer=Layer.REVIEW)

    def offers(post: Post, layer: str, role: str = "editor") -> bool:
        page = signed_in(role).get(review(post, layer)).content.decode()
        assert primary_buttons(page) <= 1
        return "Approve and publish" in page

    assert not offers(live, "review")
    assert not offers(archived, "ai-review")
    assert offers(draft, "review")
    assert not offers(draft, "review", "translator")
    refused = decide(
        signed_in("translator"), draft, "review", "publish", **{"post.title": "accept"}
    )
    assert refused.status_code == 403
    assert Post.objects.get(pk=draft.pk).status == "draft"


@pytest.mark.parametrize(
    ("status", "layer", "action"),
    [("published", Layer.AI_REVIEW, "publish"), ("draft", Layer.REVIEW, "approve")],
)
def test_a_post_that_was_published_or_taken_down_since_asks_again(
    signed_in: SignedIn, status: str, layer: Layer, action: str
) -> None:
    post = make.post(status=status)
    make.staged(post, {"title": "New"}, layer=layer)
    client = signed_in()
    sent = fields(client.get(review(post, layer)), "digest")
    now = "draft" if status == "published" else "published"
    set_status(post_id=post.pk, status=now, actor=make.actor("admin"))
    before = make.live_hash()

    answer = client.post(review(post, layer), {**sent, "post.title": "accept", "action": action})

    assert answer.status_code == 409
    assert "Nothing was applied. Check again and decide." in answer.content.decode()
    assert make.live_hash() == before
    again = fields(answer, "digest")
    assert again["post.title"] == ["accept"]
    assert client.post(review(post, layer), {**again, "action": action}).status_code == 302


@pytest.mark.parametrize(
    "changed", [{"excerpt": "Not yet", "slug": "elsewhere"}, {"publishAt": "2999-01-01T09:00:00Z"}]
)
def test_a_draft_that_was_changed_since_is_not_published(
    signed_in: SignedIn, changed: dict[str, str]
) -> None:
    post = make.post(status="draft")
    make.staged(post, {"title": "New"}, layer=Layer.REVIEW)
    client = signed_in()
    sent = fields(client.get(review(post, "review")), "digest")
    asked = client.post(review(post, "review"), {**sent, "action": "publish"})
    make.edited(post, changed)

    for form in ({**sent, "post.title": "accept"}, fields(asked, "digest")):
        answer = client.post(review(post, "review"), {**form, "action": "publish"})

        assert answer.status_code == 409
        assert "This draft was changed since you opened this review." in answer.content.decode()
        post.refresh_from_db()
        assert post.status == "draft"


def test_what_else_was_changed_in_a_published_post_holds_nothing_up(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"title": "New"})
    client = signed_in()
    sent = fields(client.get(review(post)), "digest")
    make.edited(post, {"excerpt": "By a colleague"})

    answer = client.post(review(post), {**sent, "post.title": "accept", "action": "publish"})

    assert answer.status_code == 302
    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("New", "By a colleague")
