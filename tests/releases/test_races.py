"""Two people and two schedulers at the same release: real transactions, real threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from content.layers import digest_of, open_layers
from content.models import Layer, Post, Status
from content.posts.schedule import run_due_dates
from content.store.post_queries import published_posts
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.core.models import Event
from proofroom_apps.releases.kinds import PostKind
from proofroom_apps.releases.models import Release, ReleaseItem, ReleaseState
from proofroom_apps.releases.preview import show_release, viewable_kinds
from proofroom_apps.releases.runs import publish_release
from proofroom_apps.releases.services import add_item, change_release, create_release
from tests import make

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Return the results, or the codes of the errors, of calls from concurrent threads."""
    gate = threading.Barrier(len(calls))
    answers: list[Any] = []

    def caller(call: Callable[[], Any]) -> None:
        gate.wait()
        try:
            answers.append(call())
        except CmsError as error:
            answers.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=caller, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def release_of(name: str, posts: Sequence[Post] = ()) -> Release:
    editor = make.actor("editor")
    release = create_release(name=name, actor=editor)
    for post in posts:
        add_item(release_id=release.pk, kind="post", object_id=post.pk, actor=editor)
    return release


def test_an_item_that_two_people_add_is_in_one_release() -> None:
    post = make.post("Draft", slug="draft", status="draft")
    releases = [release_of(str(n)) for n in range(4)]
    editor = make.actor("editor")

    def add(release: Release) -> Callable[[], Any]:
        return lambda: add_item(release_id=release.pk, kind="post", object_id=post.pk, actor=editor)

    answers = at_once(*[add(release) for release in releases])

    assert sorted(one for one in answers if isinstance(one, str)) == ["in_other_release"] * 3
    assert ReleaseItem.objects.count() == 1


def test_two_schedulers_start_a_release_once() -> None:
    drafts = [make.post(f"Draft {n}", slug=f"draft-{n}", status="draft") for n in range(3)]
    release = release_of("Launch", drafts)
    editor = make.actor("editor")
    change_release(release_id=release.pk, at=timezone.now() + timedelta(days=1), actor=editor)
    Release.objects.update(at=timezone.now() - timedelta(minutes=1))
    admin = make.actor("admin", via="system")

    answers = at_once(*[lambda: run_due_dates(admin)] * 3)

    assert sorted(answers) == [0, 0, 1]
    assert Release.objects.get().state == ReleaseState.PUBLISHED
    assert Event.objects.filter(name="release.published").count() == 1
    assert Event.objects.filter(name="post.published").count() == 3


def test_two_releases_with_the_same_posts_do_not_block_each_other() -> None:
    posts = [make.post(f"Post {n}", slug=f"post-{n}", status="draft") for n in range(6)]
    editor = make.actor("editor")
    first, second = release_of("First", posts[::2]), release_of("Second", posts[1::2])
    for post in posts:
        make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW)
    # Each holds the changes of the posts that the other one publishes.
    for release, others in ((first, posts[1::2]), (second, posts[::2])):
        for post in others:
            digest = digest_of(open_layers(post).review.changes)
            add_item(
                release_id=release.pk,
                kind="changes",
                object_id=post.pk,
                digest=digest,
                actor=editor,
            )

    answers = at_once(
        *[
            lambda release=release: publish_release(release_id=release.pk, actor=editor).state
            for release in (first, second)
        ]
    )

    assert answers == ["done", "done"]
    assert set(Post.objects.values_list("excerpt", "status")) == {("New", Status.PUBLISHED)}


def test_previews_beside_a_publication_neither_block_it_nor_leave_anything() -> None:
    posts = [make.post(f"Post {n}", slug=f"post-{n}", status="draft") for n in range(6)]
    editor = make.actor("editor")
    release = release_of("Launch", posts)

    def titles_shown() -> set[str]:
        with show_release(release, editor, viewable_kinds(editor)):
            return set(published_posts().values_list("title", flat=True))

    def publish() -> None:
        publish_release(release_id=release.pk, actor=editor)

    answers = at_once(*[titles_shown] * 4, publish)

    assert [one for one in answers if one is not None] == [{post.title for post in posts}] * 4
    assert Release.objects.get(pk=release.pk).state == ReleaseState.PUBLISHED
    assert set(Post.objects.values_list("status", "version")) == {(Status.PUBLISHED, 2)}


def test_two_people_publish_a_release_once() -> None:
    release = release_of(
        "Launch", [make.post(f"Post {n}", slug=f"post-{n}", status="draft") for n in range(3)]
    )
    people = [make.actor("editor"), make.actor("admin")]

    def publish(actor: Actor) -> Callable[[], Any]:
        return lambda: publish_release(release_id=release.pk, actor=actor).state

    answers = at_once(*map(publish, people))

    assert answers.count("done") == 1
    assert set(answers) - {"done"} <= {"release_running", "release_published"}
    assert Event.objects.filter(name="release.published").count() == 1
    assert Event.objects.filter(name="post.published").count() == 3


def test_other_posts_are_edited_while_a_release_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    draft, other = make.post("Draft", slug="draft", status="draft"), make.post(slug="other")
    release, written = release_of("Launch", [draft]), PostKind.apply
    answers: list[Any] = []

    def edit() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '2s'")
        return make.edited(other, {"excerpt": "Meanwhile"}).version

    def apply(self: PostKind, item: ReleaseItem, actor: Actor) -> Any:
        before = written(self, item, actor)
        answers.extend(at_once(edit))
        return before

    monkeypatch.setattr(PostKind, "apply", apply)
    publish_release(release_id=release.pk, actor=make.actor("editor"))

    assert answers == [other.version + 1]
    assert Release.objects.get().state == ReleaseState.PUBLISHED
