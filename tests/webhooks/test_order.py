"""Events of a post are delivered in order, whatever the results of single calls."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proofroom.webhooks import delivery_queue
from proofroom.webhooks.models import Delivery
from tests.receiver import Receiver, Reply
from tests.webhooks import sending

pytestmark = pytest.mark.django_db


def test_a_post_is_told_of_in_order(receiver: Receiver) -> None:
    sending.webhook(receiver)
    posts = [uuid4() for _ in range(3)]
    told = [sending.happened(post=posts[place % 3], place=place) for place in range(12)]

    assert sending.send() == 12

    for post in posts:
        came = [
            seen.json()["data"]["place"]
            for seen in receiver.at("/hook")
            if seen.json()["data"]["id"] == str(post)
        ]
        assert came == sorted(came)
        assert len(came) == 4
    assert {sending.delivery_of(event).status for event in told} == {"succeeded"}


def test_later_events_of_a_post_wait_for_one_that_is_tried_again(receiver: Receiver) -> None:
    sending.webhook(receiver)
    post = uuid4()
    receiver.say("/hook", Reply(500), Reply(200))
    first = sending.happened(post=post, place=1)
    second = sending.happened(post=post, place=2)

    assert sending.send() == 1
    assert sending.state_of(second) == ("pending", 0, None, "")

    other = sending.happened(place=3)
    assert sending.send() == 1
    sending.make_due()
    assert sending.send() == 2

    places = [seen.json()["data"]["place"] for seen in receiver.at("/hook")]
    assert places == [1, 3, 1, 2]
    assert [sending.state_of(event)[:2] for event in (first, second, other)] == [
        ("succeeded", 2),
        ("succeeded", 1),
        ("succeeded", 1),
    ]


def test_one_that_is_over_lets_the_next_go(receiver: Receiver) -> None:
    sending.webhook(receiver)
    post = uuid4()
    receiver.say("/hook", Reply(410), Reply(200))
    first = sending.happened(post=post)
    second = sending.happened(post=post)

    assert sending.send() == 2

    assert [sending.delivery_of(event).status for event in (first, second)] == [
        "failed",
        "succeeded",
    ]


def test_submissions_wait_for_nobody(receiver: Receiver) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(500), Reply(200))
    sending.submitted(place=1)
    assert sending.send() == 1

    sending.submitted(place=2)

    assert sending.send() == 1


def test_a_claim_takes_of_each_post_the_first_and_of_a_lane_so_many(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    posts = [uuid4() for _ in range(12)]
    for _ in range(2):
        for post in posts:
            sending.happened(post=post)
    lane = f"webhook:{webhook.pk}"

    first = delivery_queue.claim_deliveries({lane: 8})[lane]
    second = delivery_queue.claim_deliveries({lane: 8})[lane]

    assert [row.post_id for row in (*first, *second)] == posts
    assert delivery_queue.claim_deliveries({lane: 8}) == {}
    assert delivery_queue.find_due_channels() == [lane]
    assert not delivery_queue.claimable_deliveries(timezone.now()).exists()


def test_many_lanes_are_claimed_in_as_many_statements_as_one(receiver: Receiver) -> None:
    lanes = [f"webhook:{sending.webhook(receiver, f'/{number}').pk}" for number in range(20)]
    for _ in range(3):
        sending.happened()

    with CaptureQueriesContext(connection) as of_one:
        one = delivery_queue.claim_deliveries({lanes[0]: 1})
    with CaptureQueriesContext(connection) as of_many:
        many = delivery_queue.claim_deliveries(dict.fromkeys(lanes, 1))

    # The rows found and locked, on SQLite per channel, and the claim stored; plus a savepoint of
    # the test.
    assert len(of_one) == 4
    assert len(of_many) == 4 + (0 if connection.vendor == "postgresql" else len(lanes) - 1)
    assert [len(rows) for rows in one.values()] == [1]
    assert {lane: len(rows) for lane, rows in many.items()} == dict.fromkeys(lanes, 1)


def test_each_lane_gets_as_many_as_it_has_room_for_the_earliest_first(receiver: Receiver) -> None:
    room = {f"webhook:{sending.webhook(receiver, f'/{n}').pk}": n for n in (1, 2, 2, 8)}
    events = [sending.happened().pk for _ in range(4)]
    other = f"webhook:{sending.webhook(receiver, '/other').pk}"

    claimed = delivery_queue.claim_deliveries({**room, other: 3})

    assert {lane: [row.event_id for row in rows] for lane, rows in claimed.items()} == {
        lane: events[:most] for lane, most in room.items()
    }
    for lane, rows in claimed.items():
        assert {f"webhook:{row.webhook_id}" for row in rows} == {lane}
        assert {f"webhook:{row.webhook.pk}" for row in rows if row.webhook} == {lane}
        assert [row.event.pk for row in rows] == [row.event_id for row in rows]


def test_a_claim_that_ran_out_is_due_again(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    event = sending.happened()
    lane = f"webhook:{webhook.pk}"
    delivery_queue.claim_deliveries({lane: 8})
    assert sending.send() == 0

    Delivery.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))

    assert sending.send() == 1
    assert sending.state_of(event) == ("succeeded", 2, 200, "")
    assert [(row.number, row.error) for row in sending.attempts_of(event)] == [
        (1, delivery_queue.UNKNOWN_OUTCOME),
        (2, ""),
    ]


def test_what_ends_the_sender_every_time_is_given_up(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    event = sending.happened()
    lane = f"webhook:{webhook.pk}"
    for _ in range(8):
        assert delivery_queue.claim_deliveries({lane: 8})
        sending.make_due()

    assert sending.send() == 0

    assert sending.state_of(event) == ("failed", 9, None, delivery_queue.UNKNOWN_OUTCOME)
    assert receiver.requests == []
