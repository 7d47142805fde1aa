"""Jobs with many posts: progress, cancel, undo, and reasons to skip a post."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from content.models import JobKind, JobOutcome, JobState, Post, PostJob, PostJobItem, Status
from content.posts import job_steps, jobs
from content.posts.edit import edit_post
from content.posts.job_steps import STEPS
from content.posts.jobs import (
    POST_JOBS,
    cancel_job,
    count_job_outcomes,
    start_copy,
    start_job,
    undo_job,
)
from content.posts.publish import set_status
from content.posts.trash import delete_post
from proofroom.core.actor import Actor
from proofroom.core.background_jobs import runner
from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.content.test_move import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave all jobs to the test, which acts as the worker."""
    monkeypatch.setattr(jobs, "MAX_IN_REQUEST", 0)
    monkeypatch.setattr(runner, "queue_task", lambda *_names: None)


def tree() -> Post:
    """Create a page with two children, one of which has two children."""
    top = page("top")
    middle = page("middle", top)
    page("other", top)
    page("leaf", middle)
    page("leaf2", middle)
    return top


def paths() -> list[str]:
    return sorted(Post.objects.alive().values_list("path", flat=True))


def copied() -> list[str]:
    return [path for path in paths() if path.startswith("/top-copy")]


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("at_a_time", [1, 2, 50])
def test_a_worker_copies_the_descendants(at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree()
    step = replace(STEPS["copy"], at_a_time=at_a_time)
    monkeypatch.setattr(jobs, "STEPS", {"copy": step})

    copy, job = start_copy(post_id=top.pk, actor=make.actor())

    assert (job.state, job.done, job.total) == ("running", 1, 5)
    assert copied() == ["/top-copy"]
    POST_JOBS.execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done) == (JobState.DONE, 5)
    assert copied() == [
        "/top-copy",
        "/top-copy/middle",
        "/top-copy/middle/leaf",
        "/top-copy/middle/leaf2",
        "/top-copy/other",
    ]
    assert copy.path == "/top-copy"
    ended = Event.objects.get(name="posts.job-ended")
    assert ended.payload["done"] == 5
    POST_JOBS.execute(job.pk)
    assert len(copied()) == 5


@pytest.mark.usefixtures("later")
def test_a_page_that_went_meanwhile_is_left_out_with_all_below_it() -> None:
    top = tree()
    _copy, job = start_copy(post_id=top.pk, actor=make.actor())
    delete_post(post_id=Post.objects.get(path="/top/middle").pk, actor=make.actor())

    POST_JOBS.execute(job.pk)

    assert copied() == ["/top-copy", "/top-copy/other"]
    assert count_job_outcomes(job) == {"done": 2, "refused": 3}
    refused = job.items.filter(outcome=JobOutcome.REFUSED)
    assert all("moved or deleted" in item.why for item in refused)


@pytest.mark.usefixtures("later")
def test_a_page_whose_address_is_taken_keeps_no_other_one_back() -> None:
    top = tree()
    copy, job = start_copy(post_id=top.pk, actor=make.actor())
    page("other", copy)

    POST_JOBS.execute(job.pk)

    assert count_job_outcomes(job) == {"done": 4, "refused": 1}
    assert "other" in job.items.get(outcome=JobOutcome.REFUSED).why


@pytest.mark.usefixtures("later")
def test_a_page_that_cannot_be_copied_keeps_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree()
    broken = Post.objects.get(path="/top/middle/leaf").pk
    _copy, job = start_copy(post_id=top.pk, actor=make.actor())
    copy_below = vars(job_steps)["copy_below"]

    def failing(*, below: Mapping[UUID, UUID], actor: Actor) -> dict[UUID, Post]:
        if broken in below:
            raise ZeroDivisionError
        found: dict[UUID, Post] = copy_below(below=below, actor=actor)
        return found

    monkeypatch.setattr(job_steps, "copy_below", failing)
    POST_JOBS.execute(job.pk)

    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert copied() == [
        "/top-copy", "/top-copy/middle", "/top-copy/middle/leaf2", "/top-copy/other",
    ]  # fmt: skip
    item = job.items.get(outcome=JobOutcome.REFUSED)
    assert (item.post, item.why) == (broken, str(POST_JOBS.defect_text))


@pytest.mark.usefixtures("later")
def test_a_copy_that_is_cancelled_keeps_what_is_done_and_is_undone() -> None:
    top = tree()
    _copy, job = start_copy(post_id=top.pk, actor=make.actor())
    with pytest.raises(Conflict):
        undo_job(job_id=job.pk, actor=make.actor("admin"))
    cancel_job(job_id=job.pk, actor=make.actor("admin"))
    POST_JOBS.execute(job.pk)
    assert copied() == ["/top-copy"]
    with pytest.raises(Conflict):
        cancel_job(job_id=job.pk, actor=make.actor("admin"))

    undo_job(job_id=job.pk, actor=make.actor("admin"))
    POST_JOBS.execute(job.pk)

    assert copied() == []
    job.refresh_from_db()
    assert (job.state, job.is_undo, job.done, job.total) == (JobState.DONE, True, 1, 1)
    with pytest.raises(Conflict):
        undo_job(job_id=job.pk, actor=make.actor("admin"))


@pytest.mark.usefixtures("later")
def test_an_undo_that_was_cancelled_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    posts = [make.post(name, status=Status.DRAFT) for name in ("Tea", "Milk", "Coffee")]
    admin = make.actor("admin")
    job = start_job(kind=JobKind.PUBLISH, post_ids=[post.pk for post in posts], actor=admin)
    POST_JOBS.execute(job.pk)
    undo_job(job_id=job.pk, actor=admin)
    monkeypatch.setattr(POST_JOBS, "turn_seconds", -1.0)
    POST_JOBS.execute(job.pk)
    client = Client()
    client.force_login(make.user("admin"))
    address = f"/admin/content/postjob/{job.pk}/change/"
    assert "Continue undo" not in client.get(address).content.decode()
    client.post(address, {"action": "cancel"})
    assert count_job_outcomes(job) == {"undone": 1, "done": 2}
    said = client.get(address).content.decode()
    assert "Cancelled. You can continue the undo here." in said
    assert "Continue undo" in said

    client.post(address, {"action": "undo"})
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == (JobState.RUNNING, 1, 3)
    for _turn in range(3):
        POST_JOBS.execute(job.pk)

    job.refresh_from_db()
    assert (job.state, job.done, job.total) == (JobState.DONE, 3, 3)
    assert count_job_outcomes(job) == {"undone": 3}
    assert {row.status for row in Post.objects.all()} == {Status.DRAFT}
    assert "Continue undo" not in client.get(address).content.decode()
    with pytest.raises(Conflict):
        undo_job(job_id=job.pk, actor=admin)


def test_undoing_a_copy_keeps_edited_pages_and_their_ancestors() -> None:
    top = tree()
    _copy, job = start_copy(post_id=top.pk, actor=make.actor())
    leaf = Post.objects.get(path="/top-copy/middle/leaf")
    edit_post(
        post_id=leaf.pk,
        actor=make.actor(),
        edit=lambda document: document.with_fields({"title": "Changed"}),
    )

    undo_job(job_id=job.pk, actor=make.actor("admin"))

    assert copied() == ["/top-copy", "/top-copy/middle", "/top-copy/middle/leaf"]
    assert count_job_outcomes(job) == {"undone": 2, "kept": 3}


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        (JobKind.PUBLISH, Status.DRAFT, Status.PUBLISHED),
        (JobKind.ARCHIVE, Status.PUBLISHED, Status.ARCHIVED),
        (JobKind.ARCHIVE, Status.DRAFT, Status.ARCHIVED),
    ],
)
def test_the_status_of_many_posts_is_set_and_undone(kind: JobKind, before: str, after: str) -> None:
    posts = [make.post(name, status=before) for name in ("Tea", "Milk")]
    there = make.post("There")
    set_status(post_id=there.pk, status=after, actor=make.actor("admin"))

    job = start_job(
        kind=kind, post_ids=[post.pk for post in [*posts, there]], actor=make.actor("admin")
    )

    assert count_job_outcomes(job) == {"done": 2, "unchanged": 1}
    assert {row.status for row in Post.objects.all()} == {after}
    undo_job(job_id=job.pk, actor=make.actor("admin"))
    assert {row.status for row in Post.objects.filter(pk__in=[p.pk for p in posts])} == {before}
    dated = Post.objects.filter(pk__in=[p.pk for p in posts], published_at__isnull=False)
    assert dated.exists() == (before == Status.PUBLISHED)
    there.refresh_from_db()
    assert there.status == after


def test_many_posts_go_to_the_trash_and_come_back() -> None:
    posts = [make.post(name) for name in ("Tea", "Milk")]

    job = start_job(
        kind=JobKind.DELETE, post_ids=[post.pk for post in posts], actor=make.actor("admin")
    )

    assert Post.objects.alive().count() == 0
    undo_job(job_id=job.pk, actor=make.actor("admin"))
    assert Post.objects.alive().count() == 2


@pytest.mark.usefixtures("later")
def test_who_lost_the_right_or_the_account_changes_nothing_more() -> None:
    post, other = make.post("Tea", status=Status.DRAFT), make.post("Milk", status=Status.DRAFT)
    actor = make.actor("editor")
    first = start_job(kind=JobKind.PUBLISH, post_ids=[post.pk], actor=actor)
    make.user("editor").__class__.objects.filter(pk=actor.user.pk).update(role="translator")
    POST_JOBS.execute(first.pk)
    first.refresh_from_db()
    assert (first.state, first.done) == (JobState.FAILED, 0)
    second = start_job(kind=JobKind.PUBLISH, post_ids=[other.pk], actor=make.actor("admin"))
    PostJob.objects.filter(pk=second.pk).update(by=None)
    POST_JOBS.execute(second.pk)
    second.refresh_from_db()
    assert second.state == JobState.FAILED
    assert "no longer has an active account" in second.why
    assert {row.status for row in Post.objects.all()} == {Status.DRAFT}


@pytest.mark.parametrize(
    "act",
    [
        lambda job: cancel_job(job_id=job.pk, actor=make.actor("editor")),
        lambda job: undo_job(job_id=job.pk, actor=make.actor("editor")),
    ],
)
def test_the_jobs_of_others_are_not_found(act: Callable[[PostJob], object]) -> None:
    job = start_job(kind=JobKind.PUBLISH, post_ids=[make.post("Tea").pk], actor=make.actor("admin"))

    with pytest.raises(NotFound):
        act(job)


def test_programs_and_translators_begin_no_job() -> None:
    post = make.post("Tea", status=Status.DRAFT)

    for actor in (make.actor("translator"), make.mcp_actor("editor"), make.agent_actor()):
        with pytest.raises(NotAllowed):
            start_job(kind=JobKind.PUBLISH, post_ids=[post.pk], actor=actor)
    for ids in ([], [post.pk] * (jobs.MAX_POSTS + 1)):
        with pytest.raises(RuleViolation):
            start_job(kind=JobKind.PUBLISH, post_ids=ids, actor=make.actor("admin"))
    assert PostJob.objects.count() == 0


def test_a_lost_job_goes_on_and_old_ones_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(jobs, "MAX_IN_REQUEST", 0)
    monkeypatch.setattr(runner, "send_after_commit", lambda _send, what: sent.append(what))
    job = start_job(kind=JobKind.PUBLISH, post_ids=[make.post("Tea").pk], actor=make.actor("admin"))
    sent.clear()
    assert POST_JOBS.resume_late() == 0
    PostJob.objects.update(touched_at=timezone.now() - timedelta(minutes=5))

    assert POST_JOBS.resume_late() == 1
    assert sent == [f"post job {job.pk}"]
    assert POST_JOBS.forget_old() == 0
    PostJob.objects.update(state=JobState.DONE, touched_at=timezone.now() - timedelta(days=89))
    assert POST_JOBS.forget_old() == 0
    PostJob.objects.update(touched_at=timezone.now() - timedelta(days=91))
    assert POST_JOBS.forget_old() == 2  # with its post


@pytest.mark.usefixtures("later")
def test_a_turn_that_is_over_goes_on_by_a_message_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posts = [make.post(name, status=Status.DRAFT) for name in ("Tea", "Milk", "Coffee")]
    job = start_job(
        kind=JobKind.PUBLISH, post_ids=[post.pk for post in posts], actor=make.actor("admin")
    )
    sent: list[str] = []
    monkeypatch.setattr(runner, "send_after_commit", lambda _send, what: sent.append(what))
    monkeypatch.setattr(POST_JOBS, "turn_seconds", -1.0)
    done = []

    for _turn in range(4):
        POST_JOBS.execute(job.pk)
        job.refresh_from_db()
        done.append((job.done, job.state))

    assert done == [(1, "running"), (2, "running"), (3, "running"), (3, "done")]
    assert sent == [f"post job {job.pk}"] * 3
    assert Event.objects.filter(name="post.published").count() == 3


def test_a_post_that_breaks_a_step_keeps_no_other_one_back(
    monkeypatch: pytest.MonkeyPatch, later: None
) -> None:
    posts = [make.post(name, status=Status.DRAFT) for name in ("Tea", "Milk", "Water")]
    job = start_job(
        kind=JobKind.PUBLISH, post_ids=[post.pk for post in posts], actor=make.actor("admin")
    )
    step = STEPS[JobKind.PUBLISH]

    def run(job: PostJob, items: list[PostJobItem], actor: Actor) -> None:
        step.run(job, items, actor)
        if items[0].post == posts[1].pk:
            raise ZeroDivisionError

    monkeypatch.setattr(jobs, "STEPS", {JobKind.PUBLISH: replace(step, run=run)})

    POST_JOBS.execute(job.pk)

    job.refresh_from_db()
    assert (job.state, job.done) == (JobState.DONE, 3)
    rows = {item.post: (item.outcome, item.why) for item in job.items.all()}
    assert rows[posts[1].pk] == (
        JobOutcome.REFUSED,
        "Something went wrong with this post. Try it on its own, or check the log.",
    )
    assert [Post.objects.get(pk=post.pk).status for post in posts] == [
        "published",
        "draft",
        "published",
    ]


def test_the_list_and_the_page_of_a_job_say_what_it_does() -> None:
    job = start_job(
        kind=JobKind.PUBLISH,
        post_ids=[make.post(name, status=Status.DRAFT).pk for name in ("Tea", "Milk")],
        actor=make.actor("admin"),
    )
    client = Client()
    client.force_login(make.user("admin"))

    listed = client.get("/admin/content/postjob/?o=-started").content.decode()
    page_of_job = client.get(f"/admin/content/postjob/{job.pk}/change/").content.decode()

    assert "Started by" in listed
    assert "Publish 2 posts" in listed
    assert re.search(r"<h1[^>]*>\s*Publish 2 posts", page_of_job)


@pytest.mark.usefixtures("later")
def test_unpublishing_changes_what_is_live_and_nothing_else() -> None:
    admin = make.actor("admin")
    live, archived = make.post(slug="published"), make.post(slug="archived")
    draft = make.post(slug="draft", status=Status.DRAFT)
    set_status(post_id=archived.pk, status=Status.ARCHIVED, actor=admin)
    ids = [post.pk for post in (live, archived, draft)]
    with pytest.raises(NotAllowed):
        start_job(kind=JobKind.UNPUBLISH, post_ids=ids, actor=make.actor("translator"))

    job = start_job(kind=JobKind.UNPUBLISH, post_ids=ids, actor=admin)
    POST_JOBS.execute(job.pk)

    found = dict(Post.objects.values_list("slug", "status"))
    assert found == {"published": "draft", "draft": "draft", "archived": "archived"}
    assert count_job_outcomes(job) == {JobOutcome.DONE: 1, JobOutcome.UNCHANGED: 2}
    undo_job(job_id=job.pk, actor=admin)
    POST_JOBS.execute(job.pk)
    again = Post.objects.get(pk=live.pk)
    assert (again.status, again.published_at) == ("published", live.published_at)
