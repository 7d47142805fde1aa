"""Retries: reasons, pauses, number, and final failures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proofroom.core.http_client import HttpResult, Unreachable
from proofroom.webhooks import delivery_queue
from proofroom.webhooks.delivery import next_wait, outcome_of
from proofroom.webhooks.models import Delivery, Webhook
from tests.receiver import Receiver, Reply, Trick
from tests.webhooks import sending

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_an_address_that_may_do_better_is_tried_again(receiver: Receiver, status: int) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(status))
    event = sending.happened()

    sending.send()

    assert sending.state_of(event) == ("pending", 1, status, f"The address answered {status}.")
    row = sending.delivery_of(event)
    [attempt] = sending.attempts_of(event)
    assert row.next_attempt_at is not None
    assert 24 <= (row.next_attempt_at - attempt.at).total_seconds() <= 37
    assert (row.finished_at, attempt.status_code) == (None, status)


@pytest.mark.parametrize("status", [300, 301, 302, 304, 307, 400, 401, 403, 404, 409, 410, 422])
def test_other_answers_are_final(receiver: Receiver, status: int) -> None:
    sending.webhook(receiver)
    headers = {"Location": receiver.url("/elsewhere")}
    receiver.say("/hook", Reply(status, headers=headers))
    event = sending.happened()

    sending.send()

    assert sending.state_of(event) == ("failed", 1, status, f"The address answered {status}.")
    row = sending.delivery_of(event)
    assert row.next_attempt_at is None
    assert row.finished_at is not None
    assert receiver.at("/elsewhere") == []


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_every_2xx_is_a_success(receiver: Receiver, status: int) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(status))
    event = sending.happened()

    sending.send()

    assert sending.state_of(event) == ("succeeded", 1, status, "")


@pytest.mark.parametrize(
    "trick", [Trick.HANG, Trick.DROP, Trick.RESET, Trick.DRIP_HEAD, Trick.GARBAGE]
)
@pytest.mark.usefixtures("impatient")
def test_a_call_without_an_answer_is_tried_again(receiver: Receiver, trick: Trick) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(trick=trick), Reply(200))
    event = sending.happened()

    sending.send()

    status, attempts, code, error = sending.state_of(event)
    assert (status, attempts, code) == ("pending", 1, None)
    assert error
    sending.make_due()
    assert sending.send() == 1
    assert sending.state_of(event) == ("succeeded", 2, 200, "")
    first, second = sending.attempts_of(event)
    assert (first.number, first.status_code, first.error) == (1, None, error)
    assert (second.number, second.status_code) == (2, 200)


@pytest.mark.parametrize(
    "trick", [Trick.HANG_BODY, Trick.BREAK_OFF, Trick.DRIP_BODY, Trick.CLAIM_MORE, Trick.ENDLESS]
)
@pytest.mark.usefixtures("impatient")
def test_a_200_counts_as_delivered_whatever_the_body(receiver: Receiver, trick: Trick) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(trick=trick, body=b"x" * 40))
    event = sending.happened()

    sending.send()

    assert sending.state_of(event) == ("succeeded", 1, 200, "")
    [attempt] = sending.attempts_of(event)
    assert attempt.error  # says what was wrong with the rest
    assert len(attempt.response_body) <= 4096


def test_nobody_there_is_tried_again(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    Webhook.objects.update(url="http://127.0.0.1:1024/hook")
    event = sending.happened()

    sending.send()

    assert sending.state_of(event)[:3] == ("pending", 1, None)
    webhook.refresh_from_db()
    assert webhook.failing_since is not None


def test_an_address_that_the_rules_forbid_is_final(receiver: Receiver, env: Any) -> None:
    sending.webhook(receiver)
    env(outgoing_allowed_hosts=())
    event = sending.happened()

    sending.send()

    status, attempts, code, error = sending.state_of(event)
    assert (status, attempts, code) == ("failed", 1, None)
    assert "loopback" in error
    assert receiver.requests == []
    assert [row.error for row in sending.attempts_of(event)] == [error]


def test_seven_attempts_in_all(receiver: Receiver) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(500))
    event = sending.happened()

    for _ in range(9):
        sending.send()
        sending.make_due()

    assert sending.state_of(event) == ("failed", 7, 500, "The address answered 500.")
    assert len(receiver.at("/hook")) == 7
    assert [row.number for row in sending.attempts_of(event)] == [1, 2, 3, 4, 5, 6, 7]
    assert len({seen.body for seen in receiver.at("/hook")}) == 1
    assert len({seen.headers["x-webhook-delivery"] for seen in receiver.at("/hook")}) == 1
    assert len({seen.headers["x-hub-signature-256"] for seen in receiver.at("/hook")}) == 1


def test_the_waits_come_from_the_environment(env: Any) -> None:
    env(webhook_retry_seconds=(10, 100))
    outcome = outcome_of(Unreachable("down"), NOW)

    waits = [[next_wait(attempts, outcome) for _ in range(40)] for attempts in (1, 2, 3)]

    assert waits[2] == [None] * 40
    for expected, found in zip((10, 100), waits, strict=False):
        seconds = [wait.total_seconds() for wait in found if wait is not None]
        assert all(0.8 * expected <= value <= 1.2 * expected for value in seconds)
        assert len(set(seconds)) > 30


@pytest.mark.parametrize(
    ("status", "given", "seconds"),
    [
        (429, "3600", 3600),
        (503, "3600", 3600),
        (500, "3600", 0),
        (429, "Sat, 21 Nov 2026 13:00:00 GMT", 3600),
        (429, "Sat, 21 Nov 2026 11:00:00 GMT", 0),
        (429, "9" * 400, 86_400),
        (429, "Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        (429, "-5", 0),
        (429, "soon", 0),
        (429, "²", 0),
        (429, "", 0),
    ],
    ids=["seconds", "503", "500", "date", "past", "huge", "far", "negative", "word", "sup", "none"],
)
def test_the_receiver_may_ask_for_time(status: int, given: str, seconds: int) -> None:
    outcome = outcome_of(HttpResult(status, {"retry-after": given}, b"", 1), NOW)

    assert outcome.wait == timedelta(seconds=seconds)
    wait = next_wait(1, outcome)
    assert wait is not None
    assert wait == timedelta(seconds=seconds) if seconds else 24 <= wait.total_seconds() <= 36


def test_a_delivery_respects_retry_after(receiver: Receiver) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(429, headers={"Retry-After": "7200"}))
    event = sending.happened()

    sending.send()

    at = sending.delivery_of(event).next_attempt_at
    assert at is not None
    assert 7100 <= (at - timezone.now()).total_seconds() <= 7200
    assert Delivery.objects.count() == 1


def test_events_of_a_post_are_delivered_in_order(receiver: Receiver) -> None:
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


def test_a_claim_takes_the_first_delivery_of_each_post_up_to_the_channels_limit(
    receiver: Receiver,
) -> None:
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
