"""A web process collects its queue messages: no request waits for the queue, and none is lost."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import Pipe, get_context
from queue import Queue
from threading import Event
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from proofroom.core import outbox
from proofroom.core.models import QueueFailure
from proofroom.core.observability.work_ids import bind_ids, current_ids
from proofroom.core.outbox import wake_ups
from proofroom.core.outbox.wake_ups import BatchedNotifier
from proofroom.core.task_queue import QueueWatch, send_message
from tests import make
from tests.core.listening import Listener, own_subscriptions, subscribe

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "post.exported"
WAIT = 20
Sent = tuple[str, list[int], list[str], str | None]


class Workers:
    """Records queued messages, which `hold` delays."""

    def __init__(self) -> None:
        self.sent: Queue[Sent] = Queue()
        self.hold = Event()
        self.hold.set()
        self.has_begun = Event()
        self.error: Exception | None = None

    def queue(self, name: str, event_ids: list[int], post_ids: list[str]) -> None:
        self.has_begun.set()
        assert self.hold.wait(WAIT)
        if self.error is not None:
            raise self.error
        self.sent.put((name, event_ids, post_ids, current_ids().get("request_id")))

    def next(self) -> Sent:
        return self.sent.get(timeout=WAIT)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    found, gathered = Workers(), BatchedNotifier()
    gathered.turn_on()
    monkeypatch.setattr(wake_ups, "queue_task", found.queue)
    monkeypatch.setattr(wake_ups, "gathered_wake_ups", gathered)
    with own_subscriptions():
        subscribe([NAME], Listener())
        yield found


def request(number: int, *post_ids: UUID | None) -> list[int]:
    """Record an event for each, like a request."""
    actor = make.actor("admin")
    with bind_ids({"request_id": f"request-{number}"}), transaction.atomic():
        return [
            outbox.record(NAME, actor=actor, payload={}, post_id=post_id).pk for post_id in post_ids
        ]


def test_the_first_message_goes_at_once_and_what_comes_meanwhile_in_one(workers: Workers) -> None:
    posts = [uuid4() for _ in range(3)]
    workers.hold.clear()

    request(1, posts[0])
    assert workers.has_begun.wait(WAIT)
    [free] = request(2, None)
    request(3, posts[1], posts[2])
    request(4, posts[1])
    workers.hold.set()

    name = "core.tasks.dispatch_events"
    assert workers.next() == (name, [], [str(posts[0])], "request-1")
    assert workers.next() == (
        name, [free], [str(posts[1]), str(posts[2])], "request-2,request-3,request-4",
    )  # fmt: skip
    assert workers.sent.empty()


def test_nothing_is_sent_of_what_was_undone(workers: Workers) -> None:
    with transaction.atomic():
        request(1, uuid4())
        transaction.set_rollback(True)
    kept = uuid4()

    request(2, kept)

    assert workers.next()[2:] == ([str(kept)], "request-2")


def test_a_message_names_at_most_a_hundred_posts(workers: Workers) -> None:
    posts = [uuid4() for _ in range(101)]
    workers.hold.clear()
    request(0, uuid4())
    assert workers.has_begun.wait(WAIT)
    for begin in (0, 60):
        request(1, *posts[begin : begin + 60])
    workers.hold.set()

    workers.next()
    assert [len(workers.next()[2]), len(workers.next()[2])] == [100, 1]


def test_what_cannot_be_queued_is_noted_and_the_next_message_goes(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted, forgotten = Event(), Event()
    tell_when_done(monkeypatch, "failed", noted)
    tell_when_done(monkeypatch, "worked", forgotten)
    workers.error = ConnectionError("the broker is down")
    workers.hold.clear()
    request(1, uuid4())
    assert workers.has_begun.wait(WAIT)
    workers.hold.set()
    assert noted.wait(WAIT)
    assert QueueFailure.objects.filter(error="ConnectionError").exists()

    workers.error = None
    kept = uuid4()
    request(2, kept)

    assert workers.next()[2] == [str(kept)]
    assert forgotten.wait(WAIT)
    assert not QueueFailure.objects.exists()


def test_an_error_that_nobody_expects_ends_no_more_than_one_round(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = Event()

    def fail(_queue: object, _what: str) -> None:
        monkeypatch.setattr(wake_ups, "send_message", send_message)
        reached.set()
        raise RuntimeError("no database here")

    monkeypatch.setattr(wake_ups, "send_message", fail)
    request(1, uuid4())
    assert reached.wait(WAIT)
    kept = uuid4()

    request(2, kept)

    assert workers.next()[2] == [str(kept)]


def test_a_web_process_that_ends_sends_what_still_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers fork with multiprocessing, where `atexit` handlers do not run."""
    own_end, other_end = Pipe(duplex=False)

    def serve() -> None:
        gathered = BatchedNotifier()
        gathered.turn_on()
        gathered.add(["first"], [])
        assert own_end.poll(WAIT)
        gathered.add(["second"], [])

    monkeypatch.setattr(wake_ups, "PAUSE_SECONDS", 60)
    monkeypatch.setattr(
        wake_ups, "send_message", lambda queue, _what: other_end.send(queue.args[2])
    )
    process = get_context("fork").Process(target=serve)
    process.start()
    process.join(WAIT)
    process.kill()

    assert process.exitcode == 0
    received = [own_end.recv() for _ in range(2) if own_end.poll(WAIT)]
    assert received == [["first"], ["second"]]


def tell_when_done(monkeypatch: pytest.MonkeyPatch, method: str, done: Event) -> None:
    """Wait without polling: an in-memory database refuses writes to a table that is being read."""
    original = getattr(QueueWatch, method)

    def call(*arguments: object) -> None:
        original(*arguments)
        done.set()

    monkeypatch.setattr(QueueWatch, method, call)
