"""Dry runs on a post: real requests, displayed proposals, nothing stored."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from agents_app.models import AgentRun, RunReaction
from agents_app.reactions.dispatch import start_reactions
from agents_app.runs import execution
from agents_app.runs.creation import start_dry_run
from agents_app.runs.retry import retry_run
from content.models import Draft
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
TRY = "/admin/agents_app/agentswitch/{}/try/"


def rehearsed(role: str = "admin", agent_id: str = "seo-specialist") -> AgentRun:
    post = make.post()
    own = start_dry_run(agent_id=agent_id, post_id=post.pk, actor=make.actor(role))
    execution.execute_run(own.pk)
    own.refresh_from_db()
    return own


def test_the_answer_is_shown_and_no_draft_holds_it(signed_in: SignedIn) -> None:
    own = rehearsed()

    assert (own.status, own.is_dry, own.staged) == ("succeeded", True, [])
    assert own.value["post"]
    assert not Draft.objects.exists()
    assert not Event.objects.filter(name="post.ai-review.save").exists()
    html = signed_in("admin").get(f"/admin/agents_app/agentrun/{own.pk}/change/").content.decode()
    assert "test run" in html
    assert "Nothing was saved" in html
    assert 'id="again"' not in html


def test_it_may_only_look_things_up_and_nothing_follows_it() -> None:
    own = rehearsed(agent_id="general-assistant")
    assert own.tools
    assert "stage_post_fields" not in own.tools
    assert "generate_image" not in own.tools

    start_reactions(Event.objects.get(name="agent.run.finished"))

    assert not RunReaction.objects.exists()
    with pytest.raises(RuleViolation):
        retry_run(run_id=own.pk, actor=make.actor("admin"))


def test_who_may_not_write_agents_and_agents_of_events_begin_none() -> None:
    post = make.post()
    with pytest.raises(NotAllowed):
        start_dry_run(agent_id="seo-specialist", post_id=post.pk, actor=make.actor("editor"))
    for post_id in ("\x00", "nonsense"):
        with pytest.raises(NotFound):
            start_dry_run(agent_id="seo-specialist", post_id=post_id, actor=make.actor("admin"))
    assert not AgentRun.objects.exists()


def test_the_page_asks_on_which_post_and_leads_to_the_run(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("admin")
    address = TRY.format("seo-specialist")

    assert "nothing is proposed" in client.get(address).content.decode()
    refused = client.post(address, {"post": "nonsense"})
    assert (refused.status_code, AgentRun.objects.count()) == (422, 0)
    answer = client.post(address, {"post": str(post.pk), "words": "Mind the kettle"})

    own = AgentRun.objects.get()
    assert answer["Location"] == f"/admin/agents_app/agentrun/{own.pk}/change/"
    assert (own.is_dry, own.open_ended_context) == (True, "Mind the kettle")
    assert signed_in("editor").get(address).status_code == 403
    assert client.get(TRY.format("nobody")).status_code == 404
