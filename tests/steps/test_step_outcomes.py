"""Agents and guests that steps ask, and the notifications of steps."""

from __future__ import annotations

from typing import Any

import pytest

from agents_app.models import AgentRun, RunStatus
from agents_app.runs.run_log import record_run_end
from agents_app.step_runs import end_step_of_run
from content.models import Post
from proofroom.core.models import Event
from proofroom.definitions import Step
from proofroom.notifications.services import add_notifications
from proofroom_apps.reviewers.advice import Opinion, give_advice
from proofroom_apps.reviewers.links import create_reviewer_link
from proofroom_apps.steps.guests import end_step_of_guest
from proofroom_apps.steps.models import StepRound
from tests import make
from tests.api_client import ApiClient
from tests.steps.taking import HEAD, LEGAL, move, passed, read, set_steps, staged, states

pytestmark = pytest.mark.django_db
SEO = Step("SEO", agent="seo-specialist")
GUEST = Step("Customer", guest="Ms Meyer")


@pytest.fixture(autouse=True)
def _accounts() -> None:
    for role in ("admin", "editor", "translator"):
        make.user(role)


def draft() -> Post:
    return make.post("Coffee", status="draft")


def ended(run: AgentRun, status: RunStatus = RunStatus.SUCCEEDED, **values: Any) -> None:
    run.status = status
    for name, value in values.items():
        setattr(run, name, value)
    run.save()
    record_run_end(run)
    end_step_of_run(Event.objects.filter(name="agent.run.finished").latest("pk"))


def test_a_step_starts_its_agent(monkeypatch):
    set_steps(monkeypatch, SEO, HEAD)
    post = draft()

    move(post)

    run = AgentRun.objects.get()
    assert (run.agent_id, run.post_id, run.scope) == ("seo-specialist", post.pk, "dropdown")
    assert run.by == make.user("editor")
    assert StepRound.objects.get().run_id == run.pk


def test_an_agent_that_proposes_nothing_ends_its_step(monkeypatch):
    set_steps(monkeypatch, SEO, HEAD)
    post = draft()
    move(post)

    ended(AgentRun.objects.get())

    answer = read(post)
    assert answer["step"] == "Head"
    assert answer["decisions"][0]["agentId"] == "seo-specialist"
    assert answer["decisions"][0]["by"] is None
    end_step_of_run(Event.objects.get(name="agent.run.finished"))  # delivered twice
    assert states(post) == ["done", "open"]


def test_people_decide_about_the_proposals_of_an_agent(monkeypatch):
    set_steps(monkeypatch, SEO, HEAD)
    post = draft()
    move(post)

    ended(AgentRun.objects.get(), staged=["post.metaTitle"])

    answer = read(post)
    assert answer["step"] == "SEO"
    assert answer["problem"] == "The proposals of the agent wait for a decision."
    assert ("assignment", "The step “SEO” of “Coffee” needs your decision") in notices("editor")
    assert move(post, role="translator", expect=403)["code"] == "not_asked"
    assert move(post)["step"] == "Head"


@pytest.mark.parametrize(
    ("status", "values", "problem"),
    [
        (RunStatus.FAILED, {"error": "No credit"}, "The run failed: No credit"),
        (RunStatus.SUCCEEDED, {"declined": "No tone."}, "The agent declined: No tone."),
        (RunStatus.CANCELLED, {}, "The run was cancelled."),
    ],
)
def test_a_run_without_result_leaves_its_step_open_and_can_be_repeated(
    monkeypatch, status, values, problem
):
    set_steps(monkeypatch, SEO, HEAD)
    post = draft()
    move(post)
    first = AgentRun.objects.get()

    refused = move(post, "return", step="SEO", expect=422)
    assert refused["details"] == {"step": ["The agent is still at work."]}
    ended(first, status, **values)
    assert read(post)["problem"] == problem
    assert states(post) == ["open", "waiting"]
    make.site_role("reader", "posts.view")
    assert move(post, "return", role="reader", step="SEO", expect=403)["code"] == "not_asked"

    answer = move(post, "return", step="SEO")

    assert (answer["step"], answer["problem"]) == ("SEO", None)
    again = AgentRun.objects.exclude(pk=first.pk).get()
    assert StepRound.objects.get().run_id == again.pk
    ended(again)
    assert states(post) == ["done", "open"]


def test_a_run_that_read_other_content_leaves_its_step_to_people(monkeypatch):
    set_steps(monkeypatch, SEO, HEAD)
    post = draft()
    move(post)
    make.edited(post, {"title": "Sneaked in"})

    ended(AgentRun.objects.get())

    assert read(post)["problem"] == "The content was changed while the agent worked."
    assert states(post) == ["open", "waiting"]


def test_a_run_that_ends_after_people_decided_changes_nothing(monkeypatch):
    set_steps(monkeypatch, SEO, HEAD)
    post = draft()
    move(post)
    move(post)

    ended(AgentRun.objects.get())

    assert states(post) == ["done", "open"]


def test_an_agent_that_cannot_start_leaves_the_step_to_people(monkeypatch):
    set_steps(monkeypatch, Step("SEO", agent="nobody"))
    post = draft()

    answer = move(post)

    assert answer["step"] == "SEO"
    assert "nobody" in answer["problem"]
    assert not AgentRun.objects.exists()


def test_an_agent_runs_with_the_rights_of_who_started_the_steps(monkeypatch):
    set_steps(monkeypatch, LEGAL, SEO)
    post = draft()
    move(post)

    move(post, role="translator")  # who may not start agents

    assert AgentRun.objects.get().by == make.user("editor")


def advise(post: Post, verdict: str, *, name: str = "ms meyer", paths: Any = None) -> None:
    digest = ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]
    _link, token = create_reviewer_link(
        post_id=post.pk, actor=make.actor("editor"), name=name, digest=digest, paths=paths
    )
    link = _link
    give_advice(token, {path: Opinion(verdict) for path in link.paths})
    end_step_of_guest(Event.objects.filter(name="post.reviewer-advice.given").latest("pk"))


def guest_post(monkeypatch: pytest.MonkeyPatch) -> Post:
    set_steps(monkeypatch, GUEST)
    post = draft()
    staged(post, title="Better", excerpt="Shorter")
    move(post)
    return post


def test_who_started_is_asked_to_invite_the_guest(monkeypatch):
    guest_post(monkeypatch)

    assert notices("editor") == [
        ("assignment", "The step “Customer” of “Coffee” needs your decision")
    ]


def test_a_guest_who_agrees_to_all_changes_ends_the_step(monkeypatch):
    post = guest_post(monkeypatch)

    advise(post, "yes")

    assert states(post) == ["done"]
    assert read(post)["decisions"][0]["standsFor"] == "Ms Meyer"


@pytest.mark.parametrize(
    "values",
    [
        {"verdict": "no"},
        {"verdict": "yes", "name": "Somebody else"},
        {"verdict": "yes", "paths": ["post.title"]},
    ],
)
def test_other_advice_leaves_the_step_open(monkeypatch, values):
    post = guest_post(monkeypatch)

    advise(post, **values)

    assert states(post) == ["open"]


def test_advice_from_before_the_step_does_not_count(monkeypatch):
    set_steps(monkeypatch, GUEST)
    post = draft()
    staged(post, title="Better")
    advise(post, "yes")

    move(post)
    end_step_of_guest(Event.objects.get(name="post.reviewer-advice.given"))

    assert states(post) == ["open"]


def test_editors_say_what_a_guest_said(monkeypatch):
    post = guest_post(monkeypatch)

    assert move(post, expect=422)["details"] == {"note": ["Say why you decide for Ms Meyer."]}
    assert move(post, role="translator", note="Yes", expect=403)["code"] == "not_asked"
    answer = move(post, note="Agreed on the phone")

    assert answer["decisions"][0]["standsFor"] == "Ms Meyer"
    assert states(post) == ["done"]


def notices(name: str) -> list[tuple[str, str]]:
    events = Event.objects.filter(name__startswith="post.step").order_by("pk")
    add_notifications(list(events))
    rows = ApiClient(name).read("/api/notifications")["data"]
    return [(row["kind"], row["title"]) for row in rows]


def test_people_are_notified_of_the_step_that_asks_them(monkeypatch):
    set_steps(monkeypatch, LEGAL, HEAD)
    post = draft()

    move(post)

    assert notices("translator") == [("assignment", "“Coffee” is at the step “Legal” and asks you")]
    assert notices("admin") == []


def test_who_started_is_notified_of_the_end_and_of_what_was_sent_back(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator"))
    post = draft()
    move(post)
    move(post, "return", role="translator", note="Shorter")
    assert notices("editor") == [("decided", "“Coffee” was sent back to its authors")]

    move(post)
    move(post, role="translator")

    assert ("decided", "All steps of “Coffee” are done") in notices("editor")


def test_a_notification_links_to_the_steps(monkeypatch):
    set_steps(monkeypatch, LEGAL)
    post = draft()
    move(post)
    add_notifications(list(Event.objects.filter(name="post.step.opened")))

    [row] = ApiClient("translator").read("/api/notifications")["data"]

    assert row["url"] == f"/admin/content/post/{post.pk}/steps/"


def test_passing_leaves_no_open_step(monkeypatch):
    set_steps(monkeypatch, LEGAL, HEAD)
    post = draft()
    passed(post)

    assert StepRound.objects.get(post=post).step == ""
