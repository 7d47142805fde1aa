"""Bulk edits: the same changes in many posts, with a report, cancel and undo."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.models import JobOutcome, Post, PostJob, Revision, Status
from content.posts import jobs
from content.posts.bulk_edit import BulkEdit
from content.posts.edit import edit_post
from content.posts.jobs import POST_JOBS, cancel_job, start_bulk_edit, undo_job
from content.store import post_repository
from proofroom.core.actor import Actor
from proofroom.core.background_jobs import runner
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.json import format_time
from proofroom.core.models import Event
from proofroom.taxonomies.models import Term
from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.services import comment_on_post
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave all jobs to the test, which acts as the worker."""
    monkeypatch.setattr(jobs, "MAX_IN_REQUEST", 0)
    monkeypatch.setattr(runner, "queue_task", lambda *_names: None)


def run(posts: Sequence[Post], actor: Actor | None = None, **changes: Any) -> PostJob:
    return start_bulk_edit(
        edit=BulkEdit(**changes),
        post_ids=[post.pk for post in posts],
        actor=actor or make.actor("editor", "admin"),
        job_id=uuid4(),
    )


def report(job: PostJob) -> list[tuple[str, str]]:
    return list(job.items.order_by("position").values_list("outcome", "why"))


def terms_of(post: Post) -> set[str]:
    ids = post_repository.load(Post.objects.get(pk=post.pk)).taxonomy_term_ids
    return set(Term.objects.filter(pk__in=ids).values_list("name", flat=True))


def with_terms(title: str, *terms: Term, **values: Any) -> Post:
    return make.post(title, taxonomyTermIds=[str(term.pk) for term in terms], **values)


def test_terms_are_added_removed_and_replaced_within_their_taxonomy() -> None:
    tea, milk, new = (make.term(name) for name in ("Tea", "Milk", "New"))
    tag = make.term("Hot", "tags")
    posts = [with_terms("One", tea, tag), with_terms("Two", tea, milk, status="draft")]
    before = [post.version for post in posts]

    run(posts, term_mode="add", term_ids=(str(new.pk),))
    assert [terms_of(post) for post in posts] == [{"Tea", "Hot", "New"}, {"Tea", "Milk", "New"}]
    job = run(posts, term_mode="remove", term_ids=(str(milk.pk),))
    assert report(job) == [("unchanged", ""), ("done", "")]
    job = run(posts, term_mode="replace", term_ids=(str(milk.pk),))
    # The tag belongs to another taxonomy.
    assert [terms_of(post) for post in posts] == [{"Milk", "Hot"}, {"Milk"}]

    # The same writes as those of a single edit: a version and a revision each.
    posts = [Post.objects.get(pk=post.pk) for post in posts]
    assert [post.version for post in posts] == [before[0] + 2, before[1] + 3]
    assert Revision.objects.filter(
        post=posts[0], version=posts[0].version, reason="edited"
    ).exists()
    undo_job(job_id=job.pk, actor=make.actor("editor", "admin"))
    assert [terms_of(post) for post in posts] == [{"Tea", "Hot", "New"}, {"Tea", "New"}]


def test_a_post_that_cannot_be_changed_is_skipped_with_the_reason() -> None:
    german = Term.objects.create(taxonomy="topics", slug="tee", name="Tee", locale="de")
    publish_at = format_time(timezone.now() + timedelta(days=3))
    fine = make.post("Draft", status="draft", locale="de")
    english, live = make.post("English", status="draft"), make.post("Live", locale="de")
    gone = make.post("Gone", locale="de")
    Post.objects.filter(pk=gone.pk).update(deleted_at=timezone.now())

    job = run(
        [fine, english, live, gone],
        term_mode="add",
        term_ids=(str(german.pk),),
        fields={"publishAt": publish_at},
    )

    outcomes = report(job)
    assert [outcome for outcome, _why in outcomes] == ["done", "refused", "refused", "refused"]
    assert outcomes[1][1] == "These terms belong to another language: Tee."
    assert outcomes[2][1] == "Only drafts can be scheduled."
    fine.refresh_from_db()
    assert format_time(fine.publish_at) == publish_at
    # Nothing of a refused post was saved, not even its terms.
    assert (terms_of(english), terms_of(live)) == (set(), set())
    ended = Event.objects.get(name="posts.job-ended")
    assert (ended.payload["kind"], ended.payload["done"], ended.payload["refused"]) == (
        "edit",
        1,
        3,
    )


def test_shared_custom_fields_are_set_and_undone_unless_edited_meanwhile() -> None:
    posts = [
        make.post(title, type="testimonial", customFields={"company": company, "rating": 3})
        for title, company in (("One", "Kettle Ltd"), ("Two", "Pot Ltd"))
    ]
    blog = make.post("Other type")
    changes = {"customFields.company": "Tea Ltd", "customFields.rating": None}

    job = run([*posts, blog], fields=changes, type="testimonial")

    assert [outcome for outcome, _why in report(job)] == ["done", "done", "refused"]
    stored = [Post.objects.get(pk=post.pk) for post in posts]
    assert [post.custom_fields["company"] for post in stored] == ["Tea Ltd", "Tea Ltd"]
    edit_post(
        post_id=posts[1].pk,
        actor=make.actor("admin", "admin"),
        edit=lambda document: document.with_fields({"title": "Changed"}),
    )
    undo_job(job_id=job.pk, actor=make.actor("editor", "admin"))
    assert [outcome for outcome, _why in report(job)] == ["undone", "kept", "refused"]
    assert report(job)[1][1] == "The post was changed in the meantime."
    stored = [Post.objects.get(pk=post.pk) for post in posts]
    assert [post.custom_fields["company"] for post in stored] == ["Kettle Ltd", "Tea Ltd"]
    assert stored[0].custom_fields["rating"] == 3


def test_a_date_that_passed_meanwhile_is_not_restored() -> None:
    soon = timezone.now() + timedelta(days=1)
    post = make.post("Draft", status="draft", publishAt=format_time(soon))

    job = run([post], fields={"publishAt": None})
    job.items.update(before={"fields": {"publishAt": "2020-01-01T00:00:00.000Z"}, "parts": {}})
    undo_job(job_id=job.pk, actor=make.actor("editor", "admin"))

    post.refresh_from_db()
    assert (post.publish_at, post.status) == (None, Status.DRAFT)


def test_a_post_outside_of_the_role_does_not_stop_the_others() -> None:
    make.site_role(
        "blogger",
        "posts.view",
        "posts.edit",
        scope=ContentScope(types=frozenset({"blog"}), reads_all=True),
    )
    page, post = make.post("Page", type="page"), make.post("Post")
    term = make.term("Tea")

    job = run(
        [page, post],
        Actor(make.user("blogger"), "admin"),
        term_mode="add",
        term_ids=(str(term.pk),),
    )

    assert [outcome for outcome, _why in report(job)] == ["refused", "done"]
    assert report(job)[0][1] == "Your role does not cover this post."


def assignment(**values: Any) -> dict[str, Any]:
    given = {"assignee": "editor", "body": "Please check the prices.", "dueAt": None}
    return {"parts": {"assignment": {**given, **values}}}


def test_each_post_is_assigned_once_and_undone_unless_answered() -> None:
    make.user("editor")
    posts = [make.post("One"), make.post("Two"), make.post("Three", status="draft")]
    due = format_time(timezone.now() + timedelta(days=2))
    admin = make.actor("admin", "admin")

    job = run(posts, admin, **assignment(dueAt=due))
    again = run(posts, admin, **assignment(dueAt=due))

    assert {outcome for outcome, _why in report(job)} == {"done"}
    assert {outcome for outcome, _why in report(again)} == {"unchanged"}
    threads = Comment.objects.order_by("created_at")
    assert [(one.assignee.username, one.author.username) for one in threads] == [
        ("editor", "admin")
    ] * 3
    assert {format_time(one.due_at) for one in threads} == {due}
    assert job.edit["parts"]["assignment"]["assignee"] == make.user("editor").pk
    # An edit of the text keeps no thread.
    edit_post(
        post_id=posts[0].pk,
        actor=admin,
        edit=lambda document: document.with_fields({"title": "Changed"}),
    )
    comment_on_post(
        post_id=posts[1].pk,
        body="Done.",
        parent_id=Comment.objects.get(post=posts[1]).pk,
        actor=make.actor("editor", "admin"),
    )
    undo_job(job_id=job.pk, actor=admin)
    assert [outcome for outcome, _why in report(job)] == ["undone", "kept", "undone"]
    assert report(job)[1][1] == "The comment was answered or changed in the meantime."
    assert set(Comment.objects.values_list("post", flat=True)) == {posts[1].pk}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({}, "edit"),
        ({"term_mode": "add"}, "taxonomyTermIds"),
        ({"term_mode": "turn", "term_ids": ("x",)}, "taxonomyTermIds"),
        ({"term_mode": "add", "term_ids": (str(UUID(int=1)),)}, "taxonomyTermIds"),
        ({"fields": {"publishAt": "soon"}}, "publishAt"),
        ({"fields": {"unpublishAt": "2020-01-01T00:00:00Z"}}, "unpublishAt"),
        ({"fields": {"title": "Same"}}, "title"),
        # Each language has its own quote.
        ({"fields": {"customFields.quote": "x"}, "type": "testimonial"}, "customFields.quote"),
        ({"fields": {"customFields.rating": 9}, "type": "testimonial"}, "customFields.rating"),
        (assignment(assignee="nobody"), "assignee"),
        (assignment(assignee="edi\0tor"), "assignee"),
        (assignment(body=" "), "body"),
        (assignment(body="@agent:seo-specialist please"), "body"),
        ({"parts": {"unknown": {}}}, "unknown"),
    ],
)
def test_what_no_post_could_accept_starts_nothing(changes: dict[str, Any], field: str) -> None:
    make.user("editor")
    post = make.post()

    with pytest.raises(RuleViolation) as refused:
        run([post], **changes)

    assert [*refused.value.details] == [field]
    assert not PostJob.objects.exists()


def test_only_people_who_may_edit_start_one() -> None:
    post, term = make.post(), make.term("Tea")
    changes = {"term_mode": "add", "term_ids": (str(term.pk),)}
    for actor in (make.actor("translator", "admin"), make.agent_actor(), make.mcp_actor("editor")):
        with pytest.raises(NotAllowed):
            run([post], actor, **changes)
    assert terms_of(post) == set()


@pytest.mark.usefixtures("later")
def test_a_form_that_is_sent_twice_starts_one_job() -> None:
    make.user("editor")
    post, key, admin = make.post(), uuid4(), make.actor("admin", "admin")
    given = {"edit": BulkEdit(**assignment()), "post_ids": [post.pk], "job_id": key}

    first = start_bulk_edit(actor=admin, **given)
    second = start_bulk_edit(actor=admin, **given)
    for _time in range(2):
        POST_JOBS.execute(key)

    assert first.pk == second.pk == key
    assert Comment.objects.count() == 1
    with pytest.raises(NotFound):
        start_bulk_edit(actor=make.actor("editor", "admin"), **given)


@pytest.mark.usefixtures("later")
def test_a_worker_changes_one_post_in_each_transaction_until_it_is_cancelled() -> None:
    posts = [make.post(f"Post {number}") for number in range(3)]
    editor = make.actor("editor", "admin")
    job = run(posts, term_mode="add", term_ids=(str(make.term("Tea").pk),))
    assert (job.state, job.done, job.total) == ("running", 0, 3)

    counts = []
    for _post in range(2):
        with CaptureQueriesContext(connection) as found:
            POST_JOBS.execute_part(job.pk)
        counts.append(len(found))
    cancel_job(job_id=job.pk, actor=editor)
    POST_JOBS.execute(job.pk)

    assert [terms_of(post) for post in posts] == [{"Tea"}, {"Tea"}, set()]
    assert [outcome for outcome, _why in report(job)] == ["done", "done", "waiting"]
    # Independent of the number of posts.
    assert counts == [23 if connection.vendor == "postgresql" else 27] * 2
    undo_job(job_id=job.pk, actor=editor)
    POST_JOBS.execute(job.pk)
    assert job.items.filter(outcome=JobOutcome.UNDONE).count() == 2
    assert [terms_of(post) for post in posts] == [set(), set(), set()]
