"""One agent on many posts, as a batch: progress, results, cancel and revert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from agents_app.batches import lifecycle
from agents_app.batches.lifecycle import BulkRuns, create_bulk_runs
from agents_app.batches.queries import progress_of
from agents_app.models import AgentBatch, AgentRun
from agents_app.runs import execution
from agents_app.runs.retry import retry_run
from agents_app.runs.undo import UndoneRun
from content.layers import approve, digest_of, open_layers, submit
from content.models import Post
from content.posts.trash import delete_post
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import send
from tests.conftest import RunOnCommit
from tests.fake_provider import FakeProvider, Reply

pytestmark = pytest.mark.django_db
OpenAI = Callable[..., FakeProvider]
SignedIn = Callable[..., Client]


def posts(number: int) -> list[Post]:
    return [make.post(f"Post {place}", slug=f"post-{place}") for place in range(number)]


def begun(found: Sequence[Post], *more: str) -> BulkRuns:
    ids = [*(str(post.pk) for post in found), *more]
    return create_bulk_runs(agent_id="seo-specialist", post_ids=ids, actor=make.actor("admin"))


def done(found: Sequence[Post], *more: str) -> AgentBatch:
    """Create a batch whose runs have finished, one after another."""
    made = begun(found, *more)
    for run in made.runs:
        execution.execute_run(run.pk)
    return made.batch


def goes_live(post: Post) -> None:
    submit(post_id=post.pk, actor=make.actor("editor"))
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor("editor"), digest=digest)


def test_a_batch_says_how_far_it_is_and_what_came_of_each_post(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    openai(Reply({"post": {"metaTitle": "Better"}, "summary": "A title."}), Reply(status=400))
    found = posts(3)
    made = begun(found, "nowhere")
    for run in made.runs[:2]:
        execution.execute_run(run.pk)

    told = signed_in("admin").get(f"/api/agent-batches/{made.batch.pk}").json()

    assert told["agentId"] == "seo-specialist"
    assert told["by"]["username"] == "admin"
    assert told["progress"] == {
        "total": 3,
        "finished": 2,
        "queued": 1,
        "running": 0,
        "succeeded": 1,
        "failed": 1,
        "cancelled": 0,
        "timedOut": 0,
    }
    assert told["isFinished"] is False
    assert told["rejected"] == [{"id": "nowhere", "error": "No post has the ID nowhere."}]
    assert [(one["postId"], one["status"], one["staged"]) for one in told["results"]] == [
        (str(found[0].pk), "succeeded", 1),
        (str(found[1].pk), "failed", 0),
        (str(found[2].pk), "queued", 0),
    ]
    assert told["results"][0]["title"] == "Post 0"
    assert told["results"][0]["summary"] == "A title."
    assert "refused the request (400)" in told["results"][1]["error"]
    runs = list(AgentRun.objects.filter(batch=made.batch))
    assert told["usage"]["inputTokens"] == sum(run.input_tokens for run in runs)
    assert Decimal(str(told["cost"])) == sum(run.cost or Decimal(0) for run in runs)
    assert told["estimate"]["inputTokens"] > 0
    assert told["revert"] is None


def test_the_answer_of_a_bulk_request_names_its_batch(signed_in: SignedIn) -> None:
    post = make.post()

    answer = send(
        signed_in("admin"), "/api/posts/bulk-agents/seo-specialist/run", {"ids": [str(post.pk)]}
    ).json()

    batch = AgentBatch.objects.get()
    assert answer["batchId"] == str(batch.pk)
    assert [run["batchId"] for run in answer["data"]] == [str(batch.pk)]
    event = Event.objects.get(name="agent.batch.created")
    assert event.payload == {
        "id": str(batch.pk),
        "agentId": "seo-specialist",
        "runs": 1,
        "rejected": 0,
    }


def test_a_post_that_is_tried_again_counts_once_and_by_its_latest_try(openai: OpenAI) -> None:
    openai(Reply(status=400), Reply({"summary": "Fine."}))
    batch = done(posts(1))
    failed = AgentRun.objects.get()

    again = retry_run(run_id=failed.pk, actor=make.actor("admin"))
    execution.execute_run(again.pk)

    progress = progress_of(batch)
    assert (progress.total, progress.by_status) == (1, {"succeeded": 1})
    assert [(one.run_id, one.tries) for one in progress.results] == [(again.pk, 2)]


def test_a_batch_is_cancelled_in_one_go(openai: OpenAI, signed_in: SignedIn) -> None:
    openai(Reply({"post": {"metaTitle": "Better"}}))
    made = begun(posts(3))
    execution.execute_run(made.runs[0].pk)
    admin = signed_in("admin")

    answer = send(admin, f"/api/agent-batches/{made.batch.pk}/cancel")

    assert answer.status_code == 200, answer.json()
    assert answer.json()["cancelledAt"] is not None
    runs = AgentRun.objects.filter(batch=made.batch).order_by("created_at")
    assert [run.status for run in runs] == ["succeeded", "cancelled", "cancelled"]
    assert Event.objects.filter(name="agent.run.cancelled").count() == 2
    assert Event.objects.get(name="agent.batch.cancelled").payload["runs"] == 2
    again = send(admin, f"/api/agent-batches/{made.batch.pk}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "batch_finished")


def test_a_batch_is_taken_back_post_by_post(
    openai: OpenAI, signed_in: SignedIn, run_on_commit: RunOnCommit
) -> None:
    openai(Reply({"post": {"metaTitle": "Better"}}))
    found = posts(4)
    batch = done(found)
    goes_live(found[1])
    goes_live(found[2])
    make.edited(found[2], {"metaTitle": "By hand"})
    delete_post(post_id=found[3].pk, actor=make.actor("admin"))
    admin = signed_in("admin")

    with run_on_commit():
        answer = send(admin, f"/api/agent-batches/{batch.pk}/revert")

    assert answer.status_code == 200, answer.json()
    told = admin.get(f"/api/agent-batches/{batch.pk}").json()
    assert told["revert"]["finishedAt"] is not None
    undone = {one["runId"]: one for one in told["reverted"]}
    by_post = {run.post_id: undone[str(run.pk)] for run in AgentRun.objects.all()}
    first, second, third, fourth = (by_post[post.pk] for post in found)
    assert (first["unstaged"], first["reverted"]) == (["post.metaTitle"], [])
    assert (second["unstaged"], second["reverted"]) == ([], ["post.metaTitle"])
    assert (third["kept"], third["reverted"]) == (["post.metaTitle"], [])
    assert fourth["error"] == "The post is in the trash. Restore it first."
    assert [open_layers(post).ai_review.changes.paths for post in found[:3]] == [(), (), ()]
    titles = [make.layers(post).live.fields.get("metaTitle") for post in found[:3]]
    assert titles == [None, None, "By hand"]


def test_what_a_dead_worker_left_of_taking_back_is_done_once(
    openai: OpenAI, monkeypatch: pytest.MonkeyPatch, run_on_commit: RunOnCommit
) -> None:
    openai(Reply({"post": {"metaTitle": "Better"}}))
    found = posts(3)
    batch = done(found)
    monkeypatch.setattr(lifecycle, "send_revert", lambda batch_id: None)
    lifecycle.revert_batch(batch_id=batch.pk, actor=make.actor("admin"))
    real, calls = vars(lifecycle)["undo_run"], []

    def dies(**given: Any) -> Any:
        calls.append(given["run_id"])
        if len(calls) == 2:
            raise SystemExit
        return real(**given)

    monkeypatch.setattr(lifecycle, "undo_run", dies)
    with pytest.raises(SystemExit):
        lifecycle.revert_batch_runs(batch.pk)
    batch.refresh_from_db()
    assert (len(batch.reverted), batch.reverted_at) == (1, None)

    lifecycle.revert_batch_runs(batch.pk)
    lifecycle.revert_batch_runs(batch.pk)

    batch.refresh_from_db()
    assert len(batch.reverted) == 3
    assert batch.reverted_at is not None
    assert len(calls) == 4, "the second one twice, no other again"
    assert all(not open_layers(post).ai_review.changes.paths for post in found)


def test_a_run_that_cannot_be_undone_keeps_no_other_one(
    openai: OpenAI, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    openai(Reply({"post": {"metaTitle": "Better"}}))
    found = posts(3)
    batch = done(found)
    monkeypatch.setattr(lifecycle, "send_revert", lambda batch_id: None)
    lifecycle.revert_batch(batch_id=batch.pk, actor=make.actor("admin"))
    broken = AgentRun.objects.get(batch=batch, post=found[1])
    undo = vars(lifecycle)["undo_run"]

    def failing(*, run_id: UUID, actor: Actor) -> UndoneRun:
        if run_id == broken.pk:
            raise ZeroDivisionError
        undone: UndoneRun = undo(run_id=run_id, actor=actor)
        return undone

    monkeypatch.setattr(lifecycle, "undo_run", failing)
    lifecycle.revert_batch_runs(batch.pk)

    batch.refresh_from_db()
    errors = {run_id: one["error"] for run_id, one in batch.reverted.items() if one["error"]}
    assert errors == {str(broken.pk): "Something went wrong; the log says what."}
    assert batch.reverted_at is not None
    assert [bool(open_layers(post).ai_review.changes.paths) for post in found] == [
        False,
        True,
        False,
    ]
    assert f"run {broken.pk} of batch {batch.pk} cannot be undone" in caplog.text


def test_while_runs_go_on_a_batch_is_not_taken_back(signed_in: SignedIn) -> None:
    made = begun(posts(1))

    answer = send(signed_in("admin"), f"/api/agent-batches/{made.batch.pk}/revert")

    assert (answer.status_code, answer.json()["code"]) == (409, "batch_unfinished")
    made.batch.refresh_from_db()
    assert made.batch.revert_asked_at is None


def test_reading_batches_takes_as_many_queries_for_many_posts(
    signed_in: SignedIn, django_assert_max_num_queries: Any
) -> None:
    made = begun(posts(2))
    other = begun(posts_more(10))
    admin = signed_in("admin")
    admin.get("/api/agent-batches")

    for batch in (made.batch, other.batch):
        with django_assert_max_num_queries(6):
            assert admin.get(f"/api/agent-batches/{batch.pk}").status_code == 200
    with django_assert_max_num_queries(7):
        assert len(admin.get("/api/agent-batches").json()["data"]) == 2
    with django_assert_max_num_queries(7):
        runs = admin.get(f"/api/agent-runs?batchId={other.batch.pk}&scope=posts.bulk").json()
    assert runs["meta"]["total"] == 10


def posts_more(number: int) -> list[Post]:
    return [make.post(f"More {place}", slug=f"more-{place}") for place in range(number)]
