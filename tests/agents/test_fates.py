"""Outcomes of a run's proposals, acceptance rates, and the comparison of two runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents_app.admin.agents.definition_labels import begin_of_month
from agents_app.admin.runs.run_page import waterfall
from agents_app.models import AgentRun
from agents_app.runs.queries import (
    AcceptanceRate,
    ProposalOutcome,
    acceptance_rates,
    proposal_outcomes,
)
from agents_app.runs.undo import undo_run
from content.inbox.rejections import undo_rejections
from content.layers import approve, digest_of, reject, stage, submit
from content.models import Layer, Post
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import execute
from tests.browser.agents_scene import run, story, tries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def fates(own: AgentRun, post: Post) -> dict[str, ProposalOutcome]:
    own.refresh_from_db()
    return dict(proposal_outcomes(own, make.layers(post)))


def test_each_change_waits_goes_on_is_accepted_rejected_or_taken_back(
    signed_in: SignedIn,
) -> None:
    post, editor = make.post(excerpt="Old"), make.actor("editor")
    own = execute(post)
    first, second, *others = own.staged
    assert set(fates(own, post).values()) == {ProposalOutcome.WAITING}

    done = reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=editor, paths=[second])
    undo_rejections(post_id=post.pk, rejections=[done.rejection], actor=editor)
    assert set(fates(own, post).values()) == {ProposalOutcome.WAITING}
    assert acceptance_rates(begin_of_month(), make.actor("admin"))["seo-specialist"].rejected == 0
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=editor, paths=[second])
    before = begin_of_month() - timedelta(days=1)
    Event.objects.filter(pk=done.rejection).update(created_at=before)
    assert acceptance_rates(begin_of_month(), make.actor("admin"))["seo-specialist"].rejected == 1
    submit(post_id=post.pk, actor=editor, paths=[first])
    assert (fates(own, post)[first], fates(own, post)[second]) == (
        ProposalOutcome.SUBMITTED,
        ProposalOutcome.REJECTED,
    )
    page = signed_in().get(f"/admin/agents_app/agentrun/{own.pk}/change/").content.decode()
    in_review = f'href="/admin/content/post/{post.pk}/review/?layer=review">Review: 1 change</a>'
    assert in_review in page
    assert "No proposals left to review." not in page

    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=editor, digest=digest, paths=[first])
    assert fates(own, post) == {
        first: ProposalOutcome.ACCEPTED,
        second: ProposalOutcome.REJECTED,
        **dict.fromkeys(others, ProposalOutcome.WAITING),
    }
    rate = acceptance_rates(begin_of_month(), make.actor("admin"))["seo-specialist"]
    assert (rate.runs, rate.accepted, rate.rejected, rate.share) == (1, 1, 1, 50)

    undo_run(run_id=own.pk, actor=make.actor("admin"))
    assert fates(own, post) == dict.fromkeys(own.staged, ProposalOutcome.TAKEN_BACK)


def test_words_that_a_person_changed_and_words_that_are_gone_say_so() -> None:
    post, editor = make.post(), make.actor("editor")
    own = execute(post)
    path = own.staged[0]
    name = path.removeprefix("post.")
    submit(post_id=post.pk, actor=editor, paths=[path])
    stage(
        post_id=post.pk,
        layer=Layer.REVIEW,
        actor=editor,
        edit=lambda document: document.with_fields({name: "By a person"}),
    )
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=editor, digest=digest, paths=[path])
    assert fates(own, post)[path] == ProposalOutcome.EDITED

    own.staged = ["post.slug"]
    assert dict(proposal_outcomes(own, make.layers(post))) == {"post.slug": ProposalOutcome.GONE}


def test_the_list_of_agents_takes_no_query_for_each_run_and_decision(signed_in: SignedIn) -> None:
    client, counts = signed_in("admin"), []
    for number in range(3):
        run(make.post(slug=f"post-{number}"), staged=["post.title"], cost=Decimal("0.5"))
        with CaptureQueriesContext(connection) as queries:
            html = client.get("/admin/agents_app/agentswitch/").content.decode()
        counts.append(len(queries))

    assert counts[0] == counts[2] <= 14
    assert "$1.50" in html
    assert acceptance_rates(begin_of_month(), make.actor("admin"))[
        "seo-specialist"
    ] == AcceptanceRate(3, 0, Decimal("1.5"))


def test_a_waterfall_stays_inside_its_time() -> None:
    own = story(make.post())
    drawn = waterfall(own, list(own.steps.all()))

    assert drawn is not None
    assert drawn.lanes[0].name == "gpt-example"
    assert [lane.is_ok for lane in drawn.lanes] == [True, True, False, True]
    assert (drawn.model, drawn.tools) == ("1.6 s", "1.6 s")
    for lane in drawn.lanes:
        assert 0 <= float(lane.x[:-1]) <= 100
        assert float(lane.x[:-1]) + float(lane.width[:-1]) <= 100.01
    assert waterfall(own, []) is None


def test_two_tries_are_compared_word_by_word(signed_in: SignedIn) -> None:
    first = tries(make.post())
    second = AgentRun.objects.filter(first_try=first, status="succeeded").get()
    client = signed_in()
    address = f"/admin/agents_app/agentrun/{second.pk}/compare/"

    html = client.get(address, {"with": str(first.pk)}).content.decode()

    assert "<del>" in html
    assert "Less like an advertisement" in html
    for other in ("", "nonsense", str(second.pk), str(run(None, scope="global").pk)):
        assert client.get(address, {"with": other}).status_code == 404, other
    assert signed_in("translator").get(address).status_code == 403
