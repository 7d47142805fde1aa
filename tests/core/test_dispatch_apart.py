"""Slow subscribers are called separately: outside of transactions, in order, by one worker at a time."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom.core.tasks import sweep_events
from tests import make
from tests.core.listening import Listener, subscribe

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("no_other_subscribers"),
]
NAME = "post.exported"
POST = uuid4()


def record() -> int:
    """Record an event whose message was lost."""
    with transaction.atomic():
        event = outbox.record(NAME, actor=make.actor("admin"), payload={}, post_id=POST)
        transaction.get_connection().run_on_commit.clear()
    return event.pk


class InTheOpen(Listener):
    """Reads the committed state during its call."""

    def __call__(self, event: Event) -> None:
        assert not transaction.get_connection().in_atomic_block
        # Another worker runs the sweep meanwhile.
        self.by_another = sweep_events()
        super().__call__(event)


def test_an_outside_subscriber_runs_last_without_transaction_in_one_worker() -> None:
    apart, other = InTheOpen("apart"), Listener("other")
    subscribe([NAME], apart, apart=True)
    subscribe([NAME], other)
    first, second = record(), record()

    assert outbox.dispatch(second)

    assert (apart.ids, other.ids, apart.by_another) == ([first, second], [first, second], 0)
    for event in Event.objects.filter(name=NAME):
        assert (len(event.told), event.attempts, event.next_at) == (2, 1, None)
        assert event.dispatched_at is not None


def test_a_failed_event_is_repeated_before_its_posts_later_ones() -> None:
    apart = Listener("apart", fails=lambda event: True)
    subscribe([NAME], apart, apart=True)
    first, second = record(), record()

    assert not outbox.dispatch(second)
    third = record()
    assert not outbox.dispatch(third)

    assert (apart.ids, apart.refused, outbox.waiting_event_ids()) == ([], 1, [])
    apart.fails = lambda event: False
    Event.objects.update(next_at=timezone.now())
    assert sweep_events() == 3
    assert apart.ids == [first, second, third]


def test_an_event_is_delivered_again_after_its_worker_died() -> None:
    class Dies(Listener):
        def __call__(self, event: Event) -> None:
            super().__call__(event)
            if len(self.heard) == 1:
                raise SystemExit

    apart = Dies("apart")
    subscribe([NAME], apart, apart=True)
    first, second = record(), record()

    with pytest.raises(SystemExit):
        outbox.dispatch(second)
    assert (outbox.dispatch(second), apart.ids) == (False, [first])
    Event.objects.update(next_at=timezone.now())

    assert outbox.dispatch(second)
    assert apart.ids == [first, first, second]
