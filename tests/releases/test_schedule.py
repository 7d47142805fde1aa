"""The time of a release: local times, rights at that moment, outages, and large releases in a worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.models import Layer, Post
from content.posts.schedule import run_due_dates
from proofroom.core.models import Event
from proofroom_apps.releases.models import Release, ReleaseRun
from proofroom_apps.releases.runs import RELEASE_RUNS, read_overdue_metrics
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.releases.scenes import (
    FUTURE,
    add,
    add_changes,
    changed_post,
    create,
    digest_of,
    items,
    pass_time,
    publish,
    read,
    tick,
    undo,
)

pytestmark = pytest.mark.django_db


def now(post: Post) -> Post:
    return Post.objects.get(pk=post.pk)


def set_time(release: str, at: str | None = FUTURE, *, by: str = "editor") -> Any:
    return ApiClient(by).write("PUT", release, {"at": at})


def test_a_release_goes_live_at_its_time_once() -> None:
    post, release = changed_post(), create()
    add_changes(release, post)
    shown = set_time(release)
    assert (shown["at"], shown["state"]) == (FUTURE, "scheduled")
    assert tick() == 0
    pass_time(release)

    assert (tick(), tick()) == (1, 0)

    assert now(post).title == "New title"
    assert (read(release)["state"], read(release)["publishedBy"]) == ("published", "editor")
    assert Event.objects.filter(name="release.published").count() == 1


@pytest.mark.parametrize(
    ("at", "zone", "stored"),
    [
        ("2098-07-01T09:00", "Europe/Berlin", "2098-07-01T07:00:00.000Z"),
        ("2098-01-01T09:00", "Europe/Berlin", "2098-01-01T08:00:00.000Z"),
        ("2098-01-01T09:00", "UTC", "2098-01-01T09:00:00.000Z"),
        ("2098-01-01T09:00+02:00", None, "2098-01-01T07:00:00.000Z"),
        ("2098-01-01T09:00+02:00", "Europe/Berlin", "2098-01-01T07:00:00.000Z"),
    ],
)
def test_a_time_without_offset_is_local(at: str, zone: str | None, stored: str) -> None:
    shown = read(create(at=at, timeZone=zone))

    assert (shown["at"], shown["timeZone"]) == (stored, zone)


@pytest.mark.parametrize(
    ("values", "code", "field"),
    [
        ({"at": "2030-03-31T02:30", "timeZone": "Europe/Berlin"}, "skipped_time", "at"),
        ({"at": "2030-10-27T02:30", "timeZone": "Europe/Berlin"}, "repeated_time", "at"),
        ({"at": "2098-01-01T09:00"}, "invalid", "at"),
        # Pages of readers in the east cannot show it.
        ({"at": "9999-12-31T23:59Z"}, "invalid", "at"),
        ({"at": "tomorrow", "timeZone": "UTC"}, "invalid", "at"),
        ({"at": "9999-12-31T23:59:59-14:00"}, "invalid", "at"),
        ({"at": "2001-01-01T09:00Z"}, "invalid", "at"),
        ({"at": "2098-01-01T09:00", "timeZone": "Europe/Atlantis"}, "invalid", "timeZone"),
        ({"at": 1}, "invalid", "at"),
    ],
)
def test_a_time_that_no_clock_shows_is_refused(
    values: dict[str, Any], code: str, field: str
) -> None:
    refused("POST", "/api/releases", {"name": "Launch", **values}, 422, code, field)

    assert not Release.objects.exists()


def test_what_was_read_can_be_sent_back() -> None:
    release = create(at=FUTURE)

    assert ApiClient("editor").write("PUT", release, read(release)) == read(release)
    assert Event.objects.filter(name="release.scheduled").count() == 1


def test_a_release_with_a_conflict_gets_no_time() -> None:
    post, release = changed_post(), create()
    add_changes(release, post)
    make.staged(post, {"title": "Newer"}, layer=Layer.REVIEW)

    path = f"items.changes.{post.pk}"
    refused("PUT", release, {"at": FUTURE}, 409, "release_conflict", path)
    assert read(release)["state"] == "open"


def test_a_removed_time_does_nothing() -> None:
    post, release = changed_post(), create()
    add_changes(release, post)
    set_time(release)
    assert set_time(release, None)["state"] == "open"

    assert tick() == 0
    assert now(post).title == post.title


@pytest.mark.parametrize("column", [{"is_active": False}, {"role": "translator"}])
def test_it_needs_the_rights_that_its_maker_has_then(column: dict[str, Any]) -> None:
    post, release = changed_post(), create()
    add_changes(release, post)
    set_time(release)
    editor = make.user("editor")
    type(editor).objects.filter(pk=editor.pk).update(**column)
    pass_time(release)
    before = make.live_hash()

    assert (tick(), tick()) == (0, 0)

    assert make.live_hash() == before
    assert Release.objects.get().state == "failed"
    [event] = Event.objects.filter(name="release.failed")
    assert event.actor_id == editor.pk


def test_the_release_of_a_deleted_account_fails() -> None:
    post, release = changed_post(), create()
    add_changes(release, post)
    set_time(release, by="admin")
    make.user("admin").delete()
    pass_time(release)

    assert run_due_dates(make.actor("editor", via="system")) == 0

    assert (read(release)["state"], now(post).title) == ("failed", post.title)
    assert "deleted" in read(release)["failure"]


def test_who_adds_to_a_scheduled_release_answers_for_that_item() -> None:
    first, second, release = changed_post(), changed_post("Second, new", "second"), create()
    add_changes(release, first)
    set_time(release)
    add_changes(release, second, by="admin")
    admin = make.user("admin")
    type(admin).objects.filter(pk=admin.pk).update(role="translator")
    pass_time(release)

    assert run_due_dates(make.actor("editor", via="system")) == 0

    assert [row["conflict"] is not None for row in items(release)] == [False, True]
    assert (now(first).title, now(second).title) == (first.title, second.title)


def test_an_item_that_changed_stops_the_release_at_its_time() -> None:
    first, second, release = changed_post(), changed_post("Second, new", "second"), create()
    add_changes(release, first)
    add_changes(release, second)
    set_time(release)
    make.edited(second, {"title": "Typed over"})
    pass_time(release)
    before = make.live_hash()

    assert tick() == 0

    assert make.live_hash() == before
    shown = read(release)
    assert (shown["state"], "Second, new" in shown["failure"]) == ("failed", True)
    [event] = Event.objects.filter(name="release.failed")
    assert event.payload["reason"] == shown["failure"]
    # Tried again after the item was seen again.
    body = {"kind": "changes", "id": str(second.pk), "digest": digest_of(second)}
    ApiClient("editor").write("POST", f"{release}/items", body)
    assert publish(release)["state"] == "published"


def test_after_an_outage_releases_and_dates_take_effect_in_their_order() -> None:
    post, release = changed_post(), create()
    add_changes(release, post)
    set_time(release)
    later = make.post("Later", slug="later")
    Post.objects.filter(pk=later.pk).update(unpublish_at="2001-01-01T00:00:00Z")
    pass_time(release, minutes=90)

    assert tick() == 2

    names = Event.objects.filter(name__in=["post.updated", "release.published"]).order_by("pk")
    wanted = {str(later.pk): "expiry", str(post.pk): "release"}
    found = [wanted.get(str(event.post_id), "release") for event in names]
    assert found[-3:] == ["expiry", "release", "release"]


def large(count: int) -> tuple[str, list[Post]]:
    release = create()
    drafts = [make.post(f"Draft {n}", slug=f"draft-{n}", status="draft") for n in range(count)]
    for draft in drafts:
        add(release, "post", draft.pk)
    return release, drafts


def test_a_large_release_runs_in_a_worker_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom_apps.releases.runs.MAX_IN_REQUEST", 2)
    monkeypatch.setattr("proofroom_apps.releases.services.MAX_IN_REQUEST", 2)
    release, _drafts = large(5)

    shown = publish(release)
    assert (shown["state"], shown["progress"]) == (
        "running",
        {"kind": "publish", "done": 0, "total": 5},
    )
    refused("POST", f"{release}/publish", {}, 409, "release_running")
    refused("PUT", release, {"name": "Other"}, 409, "release_running")
    run = ReleaseRun.objects.get()
    assert RELEASE_RUNS.execute_part(run.pk)
    assert read(release)["progress"]["done"] == 2
    assert not Post.objects.filter(status="published").exists()
    RELEASE_RUNS.run_turn(run.pk)
    RELEASE_RUNS.run_turn(run.pk)

    assert (read(release)["state"], read(release)["progress"]) == ("published", None)
    assert Post.objects.filter(status="published").count() == 5
    assert Event.objects.filter(name="post.published").count() == 5

    assert undo(release)["state"] == "running"
    RELEASE_RUNS.run_turn(ReleaseRun.objects.latest("created_at").pk)
    assert read(release)["state"] == "undone"
    assert not Post.objects.filter(status="published").exists()


def test_a_large_release_names_all_items_that_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom_apps.releases.runs.MAX_IN_REQUEST", 2)
    monkeypatch.setattr("proofroom_apps.releases.services.MAX_IN_REQUEST", 2)
    release, drafts = large(5)
    publish(release)
    for draft in (drafts[0], drafts[4]):
        Post.objects.filter(pk=draft.pk).update(status="archived")
    before = make.live_hash()

    RELEASE_RUNS.run_turn(ReleaseRun.objects.get().pk)

    assert make.live_hash() == before
    assert read(release)["state"] == "failed"
    found = [row["id"] for row in items(release) if row["conflict"] is not None]
    assert found == [str(drafts[0].pk), str(drafts[4].pk)]


def test_a_release_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom_apps.releases.services.MAX_ITEMS", 2)
    release, _drafts = large(2)
    more = make.post("More", slug="more", status="draft")

    body = {"kind": "post", "id": str(more.pk)}
    refused("POST", f"{release}/items", body, 422, "too_many")


def test_a_post_whose_time_is_over_does_not_go_live_after_an_outage() -> None:
    draft, release = make.post("Draft", slug="draft", status="draft"), create()
    make.edited(draft, {"unpublishAt": "2098-01-01T00:00:00Z"})
    add(release, "post", draft.pk)
    set_time(release, "2097-01-01T00:00Z")
    pass_time(release, 10)
    Post.objects.filter(pk=draft.pk).update(unpublish_at=timezone.now() - timedelta(minutes=5))

    assert tick() == 0

    assert (now(draft).status, read(release)["state"]) == ("draft", "failed")
    assert "The time to unpublish had passed" in items(release)[0]["conflict"]["message"]


@pytest.mark.parametrize(("minutes", "number"), [(3, 1), (1, 0)])
def test_a_release_that_is_late_is_counted(minutes: int, number: int) -> None:
    release = create()
    add(release, "post", make.post(status="draft").pk)
    ApiClient("editor").write("PUT", release, {"at": FUTURE})
    pass_time(release, minutes)

    assert [(one.name, one.value) for one in read_overdue_metrics()] == [
        ("proofroom_releases_overdue", number)
    ]
