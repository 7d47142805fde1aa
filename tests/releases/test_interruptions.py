"""A release that a worker does in parts: changes meanwhile, a killed worker, and a run that starts again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from content.models import Layer, Post, Revision
from proofroom.core.models import Event
from proofroom_apps.releases import runs
from proofroom_apps.releases.kinds import RedirectKind
from proofroom_apps.releases.models import ReleaseRun
from seo.models import Redirect
from tests import make
from tests.api_client import ApiClient
from tests.releases.scenes import add, add_changes, changed_post, create, items, publish, read

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker, which the tests call themselves, do all releases, an item at a time."""
    monkeypatch.setattr(runs, "MAX_IN_REQUEST", 1)
    monkeypatch.setattr(runs.RELEASE_RUNS, "send_later", lambda job_id: None)


def begun() -> tuple[str, list[Post], UUID]:
    """Start a release of two posts and a redirect."""
    posts = [changed_post(f"New {n}", f"post-{n}") for n in range(2)]
    redirect = make.redirect("/old", "/new", active=False)
    release = create()
    for post in posts:
        add_changes(release, post)
    add(release, "redirect", redirect.pk)
    assert publish(release)["progress"] == {"kind": "publish", "done": 0, "total": 3}
    return release, posts, ReleaseRun.objects.get().pk


def titles(posts: list[Post]) -> set[str]:
    return set(
        Post.objects.filter(pk__in=[post.pk for post in posts]).values_list("title", flat=True)
    )


def test_a_change_while_it_is_checked_stops_all_of_it() -> None:
    release, posts, job = begun()
    for done in (1, 2, 3):
        runs.RELEASE_RUNS.execute_part(job)
        assert read(release)["progress"]["done"] == done
    make.staged(posts[0], {"title": "Newer"}, layer=Layer.REVIEW)
    before = make.live_hash()

    runs.RELEASE_RUNS.execute(job)

    assert make.live_hash() == before
    assert read(release)["state"] == "failed"
    assert [row["title"] for row in items(release) if row["conflict"]] == ["New 0"]
    assert not Redirect.objects.get().is_active


def test_while_it_runs_nothing_of_it_can_be_changed_or_started_again() -> None:
    release, posts, _job = begun()
    editor = ApiClient("editor")
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", f"{release}/publish", {}),
        ("PUT", release, {"name": "Else"}),
        ("DELETE", release, {}),
        ("DELETE", f"{release}/items/changes/{posts[0].pk}", {}),
    ]
    for method, address, body in calls:
        assert editor.write(method, address, body, expect=409)["code"] == "release_running"
    assert ReleaseRun.objects.count() == 1


def test_a_killed_worker_leaves_nothing_and_the_next_one_ends_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release, posts, job = begun()
    before, revisions = make.live_hash(), Revision.objects.count()
    with monkeypatch.context() as killed:

        def kill(*args: object) -> None:
            raise SystemExit

        killed.setattr(RedirectKind, "apply", kill)
        with pytest.raises(SystemExit):
            runs.RELEASE_RUNS.run_turn(job)
    # The posts were written before the redirect, and are as they were.
    assert make.live_hash() == before
    assert Revision.objects.count() == revisions
    assert read(release)["progress"] == {"kind": "publish", "done": 3, "total": 3}

    for _turn in range(2):
        runs.RELEASE_RUNS.run_turn(job)

    assert read(release)["state"] == "published"
    assert titles(posts) == {"New 0", "New 1"}
    assert Event.objects.filter(name="release.published").count() == 1
    assert Event.objects.filter(name="post.review.approve").count() == 2
    assert Redirect.objects.get().is_active
