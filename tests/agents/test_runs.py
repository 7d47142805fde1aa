"""Complete runs with the built-in demo instead of a model."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import switch_agent
from agents_app.models import AgentRun, RunStatus
from agents_app.providers.interface import StepRecord
from agents_app.runs import execution
from agents_app.runs.creation import create_run
from agents_app.runs.lifecycle import cancel_run
from agents_app.runs.run_log import add_step, add_usage
from content.layers import approve, digest_of, submit
from content.models import Draft, Post
from proofroom.accounts.models import User
from proofroom.core.errors import Conflict, NotAllowed
from proofroom.core.models import Event
from tests import make
from tests.agents.environment import set_env, write_agent
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db


def _run(run_on_commit: RunOnCommit, **given: Any) -> AgentRun:
    given = {
        "agent_id": "seo-specialist",
        "scope": "dropdown",
        "actor": make.actor("editor"),
        **given,
    }
    with run_on_commit():
        run = create_run(**given)
    run.refresh_from_db()
    return run


def test_a_run_stages_into_ai_review_and_leaves_live_content_alone(
    run_on_commit: RunOnCommit,
) -> None:
    post = make.post()
    before = make.live_hash()

    run = _run(run_on_commit, post_id=post.pk)

    hero, faq = make.module_id(post, "hero"), make.module_id(post, "faq")
    assert (run.status, run.provider, run.model, run.error) == ("succeeded", "demo", "demo", "")
    assert sorted(run.staged) == sorted(
        [
            "post.excerpt",
            "post.metaTitle",
            "post.metaDescription",
            f"modules.{hero}.props.subtitle",
            f"modules.{faq}.props.heading",
        ]
    )
    assert "no AI was involved" in run.summary
    assert make.live_hash() == before
    layers = make.layers(post)
    assert not layers.review.exists
    assert layers.ai_review.document.fields["metaTitle"] == "How to brew filter coffee"
    assert layers.ai_review.document.fields["metaDescription"] == "Grind the beans. Pour the water."
    mark = layers.ai_review.marks["post.metaTitle"]
    assert (mark.agent_id, mark.run_id, mark.via) == ("seo-specialist", str(run.pk), "agent")
    assert mark.user_id is not None
    account = User.objects.get(pk=mark.user_id)
    assert (account.agent_id, account.role) == ("seo-specialist", "ai_agent")


def test_a_runs_summary_is_its_changes_reason(run_on_commit: RunOnCommit) -> None:
    post = make.post()

    run = _run(run_on_commit, post_id=post.pk)

    reasons = {mark.reason for mark in make.layers(post).ai_review.marks.values()}
    assert reasons == {run.summary}


def test_the_demo_answers_the_same_twice_and_within_limits(run_on_commit: RunOnCommit) -> None:
    long = "A very long title about the slow and careful brewing of filter coffee at home and elsewhere"
    first, second = (
        make.post(long, markdown=f"{long}. " * 9),
        make.post(long, slug="other", markdown=f"{long}. " * 9),
    )

    for post in (first, second):
        _run(run_on_commit, post_id=post.pk)

    fields = [make.layers(post).ai_review.document.fields for post in (first, second)]
    for name, limit in (("metaTitle", 60), ("metaDescription", 155), ("excerpt", 240)):
        value = fields[0][name]
        assert isinstance(value, str)
        assert 0 < len(value) <= limit
        assert value == fields[1][name]


def test_steps_are_kept_and_a_second_execution_does_nothing(run_on_commit: RunOnCommit) -> None:
    run = _run(run_on_commit, post_id=make.post().pk)
    draft = Draft.objects.get(layer="ai-review")

    execution.execute_run(run.pk)

    assert [(step.number, step.kind, step.name, step.ok) for step in run.steps.all()] == [
        (1, "model", "Demo (no AI)", True)
    ]
    assert Draft.objects.get(layer="ai-review").version == draft.version
    assert AgentRun.objects.get().attempts == 1


def test_a_field_run_returns_a_value_and_stages_it_by_default(
    run_on_commit: RunOnCommit,
) -> None:
    post = make.post()
    given: dict[str, Any] = {"scope": "field", "post_id": post.pk, "field_key": "post.metaTitle"}

    answered = _run(run_on_commit, **given, stages_value=False)
    assert (answered.value, answered.staged) == ("How to brew filter coffee", [])
    assert not make.layers(post).ai_review.exists

    staged = _run(run_on_commit, **given)
    assert staged.staged == ["post.metaTitle"]


def test_a_field_of_a_module_is_staged_there(run_on_commit: RunOnCommit) -> None:
    post = make.post()
    hero = make.module_id(post, "hero")

    run = _run(run_on_commit, scope="field", post_id=post.pk, field_key="module.hero.subtitle")

    assert (run.status, run.staged) == ("succeeded", [f"modules.{hero}.props.subtitle"])


def test_a_global_run_needs_no_post_and_changes_nothing(run_on_commit: RunOnCommit) -> None:
    run = _run(
        run_on_commit, agent_id="general-assistant", scope="global", actor=make.actor("admin")
    )

    assert (run.status, run.staged, run.post_id) == ("succeeded", [], None)
    assert "no post" in run.summary


def test_an_agent_switched_off_between_start_and_work_fails_the_run() -> None:
    run = create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor"),
        post_id=make.post().pk,
    )
    switch_agent(agent_id="seo-specialist", enabled=False, actor=make.actor("admin"))

    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.staged) == ("failed", [])
    assert "seo-specialist" in run.error


def test_an_agent_without_an_active_account_writes_nothing() -> None:
    run = create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor"),
        post_id=make.post().pk,
    )
    make.agent_actor("seo-specialist")
    User.objects.filter(agent_id="seo-specialist").update(is_active=False)

    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert run.status == "failed"
    assert "account" in run.error
    assert not Draft.objects.exists()


def test_a_post_deleted_meanwhile_fails_the_run() -> None:
    post = make.post()
    run = create_run(
        agent_id="seo-specialist", scope="dropdown", actor=make.actor("editor"), post_id=post.pk
    )
    Post.objects.filter(pk=post.pk).update(deleted_at="2026-01-01T00:00Z")

    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.error) == ("failed", "The post was deleted before the run began.")


def test_a_cancelled_run_is_never_begun_and_cannot_be_cancelled_twice() -> None:
    run = create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor"),
        post_id=make.post().pk,
    )
    with pytest.raises(NotAllowed):
        cancel_run(run_id=run.pk, actor=make.actor("translator"))

    cancel_run(run_id=run.pk, actor=make.actor("editor"))
    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.attempts) == (RunStatus.CANCELLED, 0)
    assert not Draft.objects.exists()
    with pytest.raises(Conflict) as caught:
        cancel_run(run_id=run.pk, actor=make.actor("editor"))
    assert caught.value.code == "run_finished"


def test_the_save_that_a_run_makes_carries_its_cause(run_on_commit: RunOnCommit) -> None:
    run = _run(run_on_commit, post_id=make.post().pk)

    event = Event.objects.get(name="post.ai-review.save")

    assert (event.agent_id, event.run_id, event.hop) == ("seo-specialist", str(run.pk), 1)


def test_agent_accounts_are_created_at_boot_by_default(settings: Any, agents_dir: Path) -> None:
    from agents_app.definitions.agents import bootstrap_agent_users

    write_agent(agents_dir, "lazy", "global", extra="userAccount: {createAtBoot: false}")
    write_agent(agents_dir, "eager", "global", extra="userAccount: {email: eager@example.com}")
    definitions.reload()
    set_env(settings, agent_users_bootstrap_disabled=True)
    assert bootstrap_agent_users() == 0
    assert not User.objects.filter(agent_id="eager").exists()

    set_env(settings, agent_users_bootstrap_disabled=False)
    bootstrap_agent_users()
    bootstrap_agent_users()

    assert User.objects.get(agent_id="eager").email == "eager@example.com"
    assert not User.objects.filter(agent_id="lazy").exists()
    assert User.objects.get(agent_id="seo-specialist").can_log_in is False


def _attempt(run: AgentRun) -> AgentRun:
    AgentRun.objects.filter(pk=run.pk).update(attempt=uuid4())
    return AgentRun.objects.get(pk=run.pk)


def _step(run: AgentRun, name: str) -> bool:
    return add_step(run, StepRecord(kind="tool", name=name, ok=True, milliseconds=1))


def test_steps_are_numbered_on_and_usage_is_added_up() -> None:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="editor", via="api"
    )
    first = _attempt(run)
    assert (_step(first, "a"), _step(first, "b")) == (True, True)
    add_usage(first, input_tokens=30, output_tokens=3, cost=Decimal("0.75"))

    second = _attempt(run)
    assert _step(second, "c")
    assert not _step(first, "late"), "the run is another worker's"
    add_usage(second, input_tokens=5, output_tokens=1)
    add_usage(second, input_tokens=5, output_tokens=0, cost=Decimal("0.25"))

    run.refresh_from_db()
    assert (run.input_tokens, run.output_tokens, run.cost) == (40, 4, Decimal("1.00"))
    assert [(step.number, step.name) for step in run.steps.all()] == [(1, "a"), (2, "b"), (3, "c")]


def _unfinished_run(post: Post | None) -> AgentRun:
    return AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", post=post, by_name="editor", via="api"
    )


def test_a_run_is_reverted_live_and_staged_but_for_what_people_changed() -> None:
    post = make.post()
    run = _unfinished_run(post)
    agent, editor = make.agent_actor(run_id=str(run.pk)), make.actor("editor")
    make.staged(post, {"metaTitle": "Of the run", "excerpt": "Of the run"}, by=agent)
    submit(post_id=post.pk, actor=agent)
    approve(post_id=post.pk, actor=editor, digest=digest_of(make.layers(post).review.changes))
    make.edited(post, {"excerpt": "A person's"}, by=editor)
    make.staged(post, {"metaDescription": "Waits"}, by=agent)
    api, url = ApiClient("editor"), f"/api/agent-runs/{run.pk}/revert"

    answer = api.write("POST", url)

    assert answer == {
        "runId": str(run.pk),
        "reverted": ["post.metaTitle"],
        "kept": ["post.excerpt"],
        "unstaged": ["post.metaDescription"],
        "posts": [
            {
                "postId": str(post.pk),
                "reverted": ["post.metaTitle"],
                "kept": ["post.excerpt"],
                "unstaged": ["post.metaDescription"],
            }
        ],
        "deletedPosts": [],
    }
    taken_back = api.read(f"/api/agent-runs/{run.pk}")["revertedAt"]
    assert taken_back is not None
    live = make.layers(post).live.fields
    assert (live["metaTitle"], live["excerpt"]) == (None, "A person's")
    assert make.layers(post).ai_review.changes.paths == ()


def test_where_there_is_nothing_to_revert_it_says_so() -> None:
    post = make.post()
    before = make.live_hash()

    for run in (_unfinished_run(post), _unfinished_run(None)):
        answer = ApiClient("editor").write("POST", f"/api/agent-runs/{run.pk}/revert", expect=422)
        assert answer["code"] == "nothing_to_revert"
    assert make.live_hash() == before


@pytest.mark.parametrize(("role", "may"), [("admin", True), ("editor", False)])
def test_the_empty_page_has_the_button_that_starts_a_run(
    client: Client, role: str, may: bool
) -> None:
    client.force_login(make.user(role))
    page = client.get("/admin/agents_app/agentrun/").content.decode()
    empty = page.partition('class="card empty"')[2].partition("</div>")[0]
    assert ('href="/admin/agents_app/ask/"' in empty) is may
