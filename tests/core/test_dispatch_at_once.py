"""Concurrent workers, killed workers, and concurrent writers of posts: on a real PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections, transaction

from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.core import outbox
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from tests import make
from tests.content.at_once import at_once, is_lock_awaited
from tests.core.listening import Listener, own_subscriptions, subscribe

pytestmark = [
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("no_other_subscribers"),
]
NAME = "post.exported"
ROW = "activity.exported"


def record(post_id: UUID | None, name: str = NAME) -> int:
    """Record an event whose message was lost."""
    with transaction.atomic():
        event = outbox.record(name, actor=make.actor("admin"), payload={}, post_id=post_id)
        connection.run_on_commit.clear()
    return event.pk


def elsewhere(work: Callable[[], object]) -> Callable[[], object]:
    """Run the function with its own connection."""

    def run() -> object:
        try:
            return work()
        finally:
            connections.close_all()

    return run


class Writes(Listener):
    """Writes a row for each event."""

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        payload: JsonObject = {"post": str(event.post_id), "event": event.pk}
        outbox.record(ROW, actor=make.actor("admin"), payload=payload)


def written() -> dict[str, list[int]]:
    """Return the ids of processed events by post, in order of processing."""
    found: dict[str, list[int]] = {}
    for payload in Event.objects.filter(name=ROW).order_by("id").values_list("payload", flat=True):
        found.setdefault(payload["post"], []).append(payload["event"])
    return found


def test_workers_at_once_tell_each_event_once_and_each_post_in_order() -> None:
    posts = [uuid4() for _ in range(4)]
    subscribe([NAME], Writes())
    ids = [record(posts[number % 4]) for number in range(120)]

    def every(step: int) -> Callable[[], object]:
        return lambda: [outbox.dispatch(id_) for id_ in ids[step::3]]

    at_once(every(0), every(1), every(2), lambda: outbox.sweep(25))
    outbox.sweep(25)

    assert written() == {str(post): ids[number::4] for number, post in enumerate(posts)}
    assert set(Event.objects.filter(pk__in=ids).values_list("attempts", flat=True)) == {1}


def test_a_later_event_waits_for_the_worker_that_has_an_earlier_one() -> None:
    post = uuid4()
    subscribe([NAME], Writes())
    first, second = record(post), record(post)
    begun, go_on = threading.Event(), threading.Event()

    class Slow(Listener):
        def __call__(self, event: Event) -> None:
            if event.pk == first:
                begun.set()
                assert go_on.wait(30)
            super().__call__(event)

    slow = Slow("slow", fails=lambda event: event.pk == first)
    subscribe([NAME], slow)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(elsewhere(lambda: outbox.dispatch(first)))
        assert begun.wait(30)
        # The worker with the first event has taken all existing ones: the third comes later.
        third = record(post)
        two = pool.submit(elsewhere(lambda: outbox.dispatch(third)))
        while not two.done() and not is_lock_awaited():
            pass
        assert not two.done()
        go_on.set()
        assert (one.result(60), two.result(60)) == (False, False)

    assert slow.ids == [], "without the first event it gets none of the later ones"
    assert written() == {str(post): [first, second, third]}


def test_what_another_worker_has_is_not_taken_along() -> None:
    post, other, free = uuid4(), uuid4(), uuid4()
    subscribe([NAME], Writes())
    first = record(post)
    begun, go_on = threading.Event(), threading.Event()

    def wait(event: Event) -> None:
        if event.pk == first:
            begun.set()
            assert go_on.wait(30)

    subscribe([NAME], wait)
    with ThreadPoolExecutor(1) as pool:
        one = pool.submit(elsewhere(lambda: outbox.dispatch(first)))
        assert begun.wait(30)
        later, own, loose = record(post), record(other), record(free)
        Event.objects.filter(pk=own).update(created_at="2026-01-01T00:00Z")
        outbox.dispatch_posts([other], [])
        found = written()
        go_on.set()
        one.result(60)

    assert found == {str(other): [own], str(free): [loose]}
    assert outbox.dispatch(later)
    assert written()[str(post)] == [first, later]


def test_an_interrupted_worker_has_notified_nobody() -> None:
    post = uuid4()
    subscribe([NAME], Writes())
    first, second = record(post), record(post)

    def cut_off(event: Event) -> None:
        if event.pk == second:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with own_subscriptions(), ThreadPoolExecutor(1) as pool:
        subscribe([NAME], Writes())
        subscribe([NAME], cut_off)
        pool.submit(elsewhere(lambda: outbox.dispatch(second))).exception(60)
    assert written() == {}
    left = Event.objects.filter(pk__in=[first, second])
    assert set(left.values_list("attempts", "dispatched_at")) == {(0, None)}

    assert outbox.dispatch(second)
    assert written()[str(post)] == [first, second]


def test_a_writer_and_a_dispatching_worker_do_not_deadlock() -> None:
    post = make.post(title="First")
    Event.objects.update(dispatched_at="2026-01-01T00:00Z")

    class Reads(Writes):
        """Locks the post like the start of a run."""

        def __call__(self, event: Event) -> None:
            Post.objects.select_for_update().get(pk=str(event.post_id))
            super().__call__(event)

    subscribe(["post.updated"], Reads())
    subscribe([NAME], Writes("other"))
    ids = [record(post.pk, "post.updated") for _ in range(3)]

    def write() -> None:
        for number in range(10):
            edit_post(
                post_id=post.pk,
                actor=make.actor("admin"),
                edit=lambda document, number=number: document_edits.patch_fields(  # type: ignore[misc]
                    document, {"title": f"Title {number}"}
                ),
            )

    make.user("admin")
    at_once(write, lambda: [outbox.sweep(25) for _ in range(20)], write)
    outbox.sweep(25)

    told = written()[str(post.pk)]
    assert told == sorted(told)
    assert told[:3] == ids
    assert len(told) == Event.objects.filter(name="post.updated").count()


def test_words_are_forgotten_beside_a_worker_that_tells_of_them() -> None:
    post = uuid4()
    subscribe([NAME], Writes())
    ids = [record(post) for _ in range(60)]

    make.user("admin")
    at_once(
        lambda: outbox.sweep(25),
        transaction.atomic(lambda: outbox.forget(reversed(ids))),
        lambda: outbox.dispatch(ids[-1]),
    )
    outbox.sweep(25)

    told = written().get(str(post), [])
    assert told == sorted(set(told))
    assert not Event.objects.filter(pk__in=ids, dispatched_at__isnull=True).exists()
    assert not Event.objects.filter(pk__in=ids, forgotten_at__isnull=True).exists()
