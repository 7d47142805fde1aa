"""Authorship by AI is shown regardless of the interface."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from content.layers import approve, digest_of, submit
from content.tools.stage_changes import SavePost, save_post_ai_review
from proofroom.accounts.services.agents import ensure_agent_user
from proofroom.core.actor import Actor, Via
from tests import make
from tests.admin.pages import review, url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def client_of_ai(via: Via) -> Actor:
    return Actor(user=ensure_agent_user(agent_id="general-assistant"), via=via)


def test_an_ai_client_that_names_no_agent_writes_as_its_accounts_agent(signed_in: SignedIn) -> None:
    post = make.post()
    arguments = SavePost.model_validate({"postId": str(post.pk), "patch": {"metaTitle": "x"}})

    save_post_ai_review(client_of_ai("mcp"), arguments)

    mark = make.layers(post).ai_review.marks["post.metaTitle"]
    assert (mark.agent_id, mark.via) == ("general-assistant", "mcp")
    page = signed_in().get(review(post)).content.decode()
    assert page.count('class="by by-ai">AI<') == 1
    assert "by-person" not in page
    assert "AI: General assistant" in signed_in().get("/admin/inbox/").content.decode()


@pytest.mark.parametrize("via", ["api", "mcp"])
def test_a_mark_without_an_agent_is_ais_by_its_door_or_its_account(
    signed_in: SignedIn, via: Via
) -> None:
    post = make.post()
    make.staged(post, {"metaTitle": "x"}, by=client_of_ai(via))
    assert make.layers(post).ai_review.marks["post.metaTitle"].agent_id == ""

    page = signed_in().get(review(post)).content.decode()

    assert 'class="by by-ai">AI<' in page
    assert "by-person" not in page
    assert "agent:general-assistant" in page


def test_a_person_is_called_a_person(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"metaTitle": "x"}, by=make.actor("editor"))

    page = signed_in().get(review(post)).content.decode()

    assert "by-person" in page
    assert "by-ai" not in page


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (client_of_ai, "AI: agent:general-assistant, approved by editor"),
        (lambda via: make.actor("admin", via=via), "By admin, approved by editor"),
        (lambda via: make.actor("editor", via=via), "By editor, "),
    ],
    ids=["AI", "another person", "the same person"],
)
def test_the_line_under_a_field_says_who_wrote_and_who_approved(
    signed_in: SignedIn, by: Callable[[Via], Actor], words: str
) -> None:
    post = make.post()
    make.staged(post, {"metaTitle": "Better"}, by=by("api"))
    editor = make.actor("editor", via="admin")
    submit(post_id=post.pk, actor=editor)
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=editor, digest=digest)

    page = signed_in().get(url(post)).content.decode()

    assert words in page
    assert ("By editor, approved" in page) is False
