"""The outbox: written with the change, gone with it, told after the commit, told again when somebody failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import transaction

from content import edits
from content.models import Post
from content.services.edit import edit_post
from core import events
from core.events.subscribers import _subscribers
from core.models import Event
from core.tasks import dispatch_event, sweep_events
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db


class Listener:
    """A subscriber that remembers, and fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.__qualname__ = "Listener"  # what the log names
        self.failures = failures
        self.heard: list[tuple[str, str]] = []

    def __call__(self, event: Event) -> None:
        if self.failures:
            self.failures -= 1
            raise RuntimeError("not now")
        self.heard.append((event.name, str(event.post_id)))


@pytest.fixture
def names() -> Iterator[tuple[str, ...]]:
    """Events to subscribe to; the subscriptions end with the test."""
    before = {name: list(found) for name, found in _subscribers.items()}
    yield ("post.updated",)
    _subscribers.clear()
    _subscribers.update(before)


def rename(post: Post, title: str = "New") -> None:
    edit_post(
        post_id=post.pk,
        actor=make.actor(),
        edit=lambda document: edits.patch_fields(document, {"title": title}),
    )


def test_an_event_is_told_after_the_commit_and_once(
    names: tuple[str, ...], run_on_commit: RunOnCommit
) -> None:
    post, listener = make.post(), Listener()
    events.subscribe(names, listener)

    with run_on_commit():
        rename(post)
        assert listener.heard == []

    assert listener.heard == [("post.updated", str(post.pk))]
    event = Event.objects.get(name="post.updated")
    assert event.dispatched_at is not None
    assert event.payload["changedPaths"] == ["post.title"]
    assert event.pk not in events.waiting()
    dispatch_event(event.pk)
    assert len(listener.heard) == 1


def test_an_event_goes_with_the_change_that_was_rolled_back(
    names: tuple[str, ...], run_on_commit: RunOnCommit
) -> None:
    post, listener = make.post(), Listener()
    events.subscribe(names, listener)
    before, version = Event.objects.count(), events.content_version()

    @transaction.atomic
    def rename_and_fail() -> None:
        rename(post)
        raise RuntimeError("after the write")

    with run_on_commit(), pytest.raises(RuntimeError):
        rename_and_fail()

    assert Post.objects.get().title != "New"
    assert (Event.objects.count(), events.content_version()) == (before, version)
    assert listener.heard == []


def test_a_failing_subscriber_stops_nobody_and_is_told_again_by_the_sweep(
    names: tuple[str, ...], run_on_commit: RunOnCommit
) -> None:
    post, failing, other = make.post(), Listener(failures=2), Listener()
    events.subscribe(names, failing)
    events.subscribe(names, other)
    Event.objects.update(dispatched_at="2020-01-01T00:00:00Z")

    with run_on_commit():
        rename(post)
    assert (failing.heard, len(other.heard)) == ([], 1)
    sweep_events()
    assert failing.heard == []
    sweep_events()

    assert len(failing.heard) == 1
    assert len(other.heard) == 3  # at least once: whoever listens may be told again
    event = Event.objects.get(name="post.updated")
    assert (event.attempts, event.dispatched_at is None) == (3, False)
    assert sweep_events() == 0


def test_a_wake_up_that_got_lost_is_found_by_the_sweep(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, run_on_commit: RunOnCommit
) -> None:
    post, listener = make.post(), Listener()
    events.subscribe(names, listener)

    def broken(event_id: int) -> None:
        raise ConnectionError("the broker is down")

    monkeypatch.setattr(dispatch_event, "delay", broken)
    with run_on_commit():
        rename(post)
    assert (Post.objects.get().title, listener.heard) == ("New", [])
    sweep_events()

    assert listener.heard == [("post.updated", str(post.pk))]


def test_staging_moves_no_content_version_and_live_writes_do() -> None:
    post = make.post()
    version = events.content_version()

    make.staged(post, {"title": "Waits"})
    assert events.content_version() == version
    rename(post)

    assert events.content_version() > version


def test_an_event_that_is_given_up_is_said_once(
    names: tuple[str, ...], run_on_commit: RunOnCommit, caplog: pytest.LogCaptureFixture
) -> None:
    post, listener = make.post(), Listener(failures=events.MAX_ATTEMPTS + 2)
    with run_on_commit():
        pass
    events.subscribe(names, listener)
    rename(post)
    event = Event.objects.get(name="post.updated")

    def given_up() -> int:
        return sum("is not tried again" in record.message for record in caplog.records)

    for _ in range(events.MAX_ATTEMPTS - 1):
        events.dispatch(event.pk)
    assert given_up() == 0
    assert event.pk in events.waiting()

    events.dispatch(event.pk)
    assert given_up() == 1
    assert event.pk not in events.waiting()

    events.dispatch(event.pk)
    assert given_up() == 1
