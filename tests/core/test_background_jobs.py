"""Background jobs of every kind: their end, and the sweep of stalled ones."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError, connections, transaction
from django.utils import timezone
from django.utils.translation import override

from cms_project.celery import app
from content.models import JobKind, JobState, PostJob, Status
from content.posts import jobs
from content.posts.jobs import POST_JOBS, start_job
from content.tasks import sweep_decisions
from proofroom.core.background_jobs import runner
from proofroom.core.background_jobs.models import BackgroundJob
from proofroom.core.background_jobs.registry import job_runners
from proofroom.core.independent_steps import StepsFailed
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Leave all jobs to the test, which acts as the worker. Return the messages."""
    messages: list[str] = []
    monkeypatch.setattr(jobs, "MAX_IN_REQUEST", 0)
    monkeypatch.setattr(runner, "send_after_commit", lambda _send, what: messages.append(what))
    return messages


def new_job(*titles: str) -> PostJob:
    posts = [make.post(title, status=Status.DRAFT) for title in titles]
    return start_job(
        kind=JobKind.PUBLISH, post_ids=[post.pk for post in posts], actor=make.actor("admin")
    )


def sweep() -> int:
    PostJob.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    return sweep_decisions()


def die(job: PostJob) -> None:
    """Let a worker claim the job, and be killed immediately."""

    class Killed(BaseException):
        pass

    with (
        patch.object(POST_JOBS, "execute_part", side_effect=Killed),
        pytest.raises(Killed),
    ):
        POST_JOBS.run_turn(job.pk)


def test_every_kind_has_an_index_of_what_runs() -> None:
    app.loader.import_default_modules()

    assert {each.model._meta.label for each in job_runners} == {
        "agents_app.Evaluation",
        "content.PostJob",
        "content.Replacement",
        "content.DecisionBatch",
        "proofroom_imports.ImportRun",
        "proofroom_privacy.PersonalDataRequest",
        "proofroom_releases.ReleaseRun",
    }
    for each in job_runners:
        assert issubclass(each.model, BackgroundJob)
        partial = [index for index in each.model._meta.indexes if index.condition is not None]
        assert [index.fields for index in partial] == [["touched_at"]]


def test_a_job_that_kills_its_workers_ends_in_the_language_of_who_started_it(
    sent: list[str],
) -> None:
    with override("de"):
        job = new_job("Tea", "Milk")

    for _time in range(9):
        die(job)
        sweep()
    POST_JOBS.execute_part(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.done) == (JobState.RUNNING, 0, 1)
    for _time in range(10):
        assert sweep() == 1
        die(job)
    sent.clear()
    assert sweep() == 1

    job.refresh_from_db()
    assert (job.state, job.attempts, job.done) == (JobState.FAILED, 10, 1)
    assert job.ended_at is not None
    assert job.why.startswith("Der Vorgang wurde 10-mal unterbrochen")
    assert sent == []
    assert Event.objects.get(name="posts.job-ended").payload["state"] == "failed"
    POST_JOBS.execute(job.pk)
    assert sweep() == 0
    assert job.items.filter(outcome="waiting").count() == 1


@pytest.mark.usefixtures("sent")
def test_a_job_whose_messages_wait_long_behind_others_waits() -> None:
    job = new_job("Tea")

    for _time in range(40):
        assert sweep() == 1
    POST_JOBS.run_turn(job.pk)

    job.refresh_from_db()
    assert (job.state, job.done) == (JobState.DONE, 1)


def test_a_job_waits_where_the_database_is_away(
    sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = new_job("Tea")

    def is_away(*_arguments: Any) -> None:
        raise OperationalError("gone")

    with monkeypatch.context() as away:
        away.setattr(POST_JOBS, "do_part", is_away)
        with pytest.raises(OperationalError):
            POST_JOBS.execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.why) == (JobState.RUNNING, "")
    POST_JOBS.execute(job.pk)

    job.refresh_from_db()
    assert (job.state, job.done) == (JobState.DONE, 1)


@pytest.mark.usefixtures("sent")
def test_jobs_of_inactive_users_stop() -> None:
    job = new_job("Tea")
    user = make.user("admin")
    user.is_active = False
    user.save()

    POST_JOBS.execute(job.pk)

    job.refresh_from_db()
    assert (job.state, job.done) == (JobState.FAILED, 0)
    assert job.why == "The person who started this no longer has an active account."


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_a_job_that_a_worker_is_at_is_not_woken(sent: list[str]) -> None:
    job = new_job("Tea")
    sent.clear()
    PostJob.objects.update(touched_at=timezone.now() - timedelta(hours=1))

    def resume_elsewhere() -> int:
        try:
            return sweep_decisions()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            POST_JOBS.lock(job.pk)
            assert pool.submit(resume_elsewhere).result(timeout=60) == 0
        assert pool.submit(resume_elsewhere).result(timeout=60) == 1
    assert sent == [f"post job {job.pk}"]


def test_a_job_that_cannot_be_resumed_stops_no_other(
    sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, other = new_job("Tea"), new_job("Milk")
    sent.clear()
    resume = POST_JOBS.resume

    def failing(job: PostJob) -> None:
        if job.pk == broken.pk:
            raise ZeroDivisionError
        resume(job)

    monkeypatch.setattr(POST_JOBS, "resume", failing)
    monkeypatch.setattr(runner, "MAX_WOKEN", 1)
    late = timezone.now() - timedelta(hours=1)
    PostJob.objects.update(touched_at=late)
    PostJob.objects.filter(pk=broken.pk).update(touched_at=late - timedelta(hours=1))

    with pytest.raises(StepsFailed):
        sweep_decisions()
    assert sweep_decisions() == 1

    assert sent == [f"post job {other.pk}"]
    broken.refresh_from_db()
    assert (broken.state, broken.touched_at > late) == (JobState.RUNNING, True)


@pytest.mark.parametrize(
    ("method", "task"),
    [("resume_late", "content.tasks.sweep_decisions"), ("forget_old", "content.tasks.purge_trash")],
)
def test_a_kind_of_jobs_that_fails_stops_no_other_kind(
    monkeypatch: pytest.MonkeyPatch, method: str, task: str
) -> None:
    app.loader.import_default_modules()
    first, *others = job_runners
    asked: list[str] = []

    def broken() -> int:
        raise ZeroDivisionError

    def followed(name: str) -> Callable[[], int]:
        def run() -> int:
            asked.append(name)
            return 0

        return run

    monkeypatch.setattr(first, method, broken)
    for one in others:
        monkeypatch.setattr(one, method, followed(one.task))

    with pytest.raises(StepsFailed):
        app.tasks[task].apply().get()

    assert asked == [one.task for one in others]
