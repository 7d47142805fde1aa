"""Delivery channels never wait for each other, and share retries, order and redaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.utils import timezone

from proofroom.core.json import sorted_json
from proofroom.core.models import Event
from proofroom.webhooks import delivery, delivery_channels, delivery_queue, http_calls
from proofroom.webhooks.delivery_channels import event_body
from proofroom.webhooks.delivery_queue import new_delivery, queue_all
from proofroom.webhooks.dispatch import channel_of
from proofroom.webhooks.models import Delivery, DeliveryStatus
from tests.content.at_once import at_once
from tests.receiver import Receiver, Reply, Trick
from tests.webhooks import sending


@contextmanager
def beside(work: Callable[[], Any]) -> Iterator[list[Any]]:
    """Run a function in a thread with its own connection, joined at the end. The result is appended to the list."""
    answers: list[Any] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as error:  # shown by the test
            answers.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield answers
    finally:
        thread.join()


def queue(event: Event, channel: str, **of: Any) -> Delivery | None:
    """Queue a delivery; None if the channel already has one of this event."""
    made = new_delivery(event, channel, **of)
    queue_all([made])
    return Delivery.objects.filter(pk=made.pk).first()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extend the timeout, so that a call held by the test does not end on a busy machine."""
    monkeypatch.setattr(http_calls, "CALL_SECONDS", 120.0)


@pytest.mark.django_db
def test_a_channel_whose_last_delivery_ended_is_not_claimed_again(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims: list[dict[str, int]] = []
    claim = delivery_queue.claim_deliveries

    def counted(room: dict[str, int]) -> dict[str, list[Delivery]]:
        claims.append(room)
        return claim(room)

    monkeypatch.setattr(delivery_queue, "claim_deliveries", counted)
    sending.webhook(receiver)
    for expected in (1, 2):
        event = sending.happened()
        assert sending.send() == 1
        assert sending.state_of(event) == ("succeeded", 1, 200, "")
        assert len(claims) == expected


@pytest.mark.django_db
def test_a_receiver_that_hangs_holds_up_nobody_else(receiver: Receiver) -> None:
    sending.webhook(receiver, "/hangs", id=UUID(int=1))  # whose lane comes first
    sending.webhook(receiver, "/quick", id=UUID(int=2))
    receiver.say("/hangs", Reply(trick=Trick.HANG))
    for _ in range(20):
        sending.happened()

    def watch() -> int:
        try:
            receiver.wait(20, "/quick")
            return len(receiver.wait(8, "/hangs"))
        finally:
            receiver.release()

    with beside(watch) as seen:
        assert sending.send() == 40

    assert seen == [8]
    found = set(Delivery.objects.values_list("status", "attempts", "last_error"))
    assert found == {("succeeded", 1, "")}


@pytest.fixture
def nobody_wakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a broker outage. Without a transaction, waking would send immediately."""
    monkeypatch.setattr("proofroom.webhooks.delivery_queue.queue_sender", lambda: None)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("nobody_wakes")
def test_who_comes_late_does_not_wait_for_one_that_hangs(receiver: Receiver) -> None:
    receiver.say("/hangs", Reply(trick=Trick.HANG))
    sending.webhook(receiver, "/hangs")
    for _ in range(10):
        sending.happened()

    with beside(delivery.send_due) as answers:
        try:
            receiver.wait(8, "/hangs")
            sending.webhook(receiver, "/quick")
            for _ in range(20):
                sending.happened()
            receiver.wait(20, "/quick")
            assert len(receiver.at("/hangs")) == 8
            assert not answers
        finally:
            receiver.release()

    assert answers == [(50, False)]
    assert set(Delivery.objects.values_list("status", "attempts")) == {("succeeded", 1)}


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("nobody_wakes")
def test_two_senders_at_once_send_nothing_twice(receiver: Receiver) -> None:
    sending.webhook(receiver)
    for _ in range(40):
        sending.happened()

    answers = at_once(delivery.send_due, delivery.send_due)

    assert set(answers) == {(0, False), (40, False)}
    assert len(receiver.at("/hook")) == 40


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("nobody_wakes")
def test_claims_made_at_once_never_meet(receiver: Receiver) -> None:
    """Even if a sender was declared dead and both are working."""
    lanes = [channel_of(sending.webhook(receiver, f"/{number}")) for number in range(4)]
    for _ in range(10):
        sending.happened()

    def take() -> list[UUID]:
        found = []
        for _ in range(5):
            claimed = delivery_queue.claim_deliveries(dict.fromkeys(lanes, 2))
            found += [row.pk for rows in claimed.values() for row in rows]
        return found

    parts: list[Any] = at_once(take, take, take)

    taken = [id_ for part in parts for id_ in part]
    assert len(taken) == len(set(taken))
    assert set(Delivery.objects.filter(pk__in=taken).values_list("attempts", flat=True)) == {1}
    assert Delivery.objects.filter(attempts=0).count() == 40 - len(taken)


@pytest.mark.django_db
def test_more_lanes_than_can_be_served_at_once_are_all_served(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "MAX_CHANNELS", 3)
    for place in range(10):
        sending.webhook(receiver, f"/{place}")
    for _ in range(3):
        sending.happened()

    assert sending.send() == 30


class _Other:
    """A channel of another kind, like workflows."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver

    def build_request(self, delivery: Delivery) -> delivery_channels.OutgoingRequest:
        if delivery.workflow_id == "gone":
            raise delivery_channels.NothingToSend("The workflow was deleted.")
        if delivery.workflow_id == "broken":
            raise KeyError("template")
        return delivery_channels.OutgoingRequest(
            url=self.receiver.url("/flow"),
            headers={"X-Key": "key-of-the-workflow"},
            body=sorted_json(event_body(delivery.event)),
            secrets=("another-secret",),
            method="PUT",
            is_named=False,
        )


@pytest.fixture
def other(receiver: Receiver) -> Iterator[None]:
    with delivery_channels.channels.registered_temporarily(_Other(receiver), name="other"):
        yield


@pytest.mark.django_db
def test_lanes_that_wait_for_a_retry_do_not_crowd_out_others(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_queue, "MAX_CHANNELS", 2)
    hooks = sorted((sending.webhook(receiver, f"/{place}") for place in range(3)), key=channel_of)
    post = uuid4()
    earlier, later = (sending.happened(post=post) for _ in range(2))
    last = channel_of(hooks[-1])
    waiting = Delivery.objects.exclude(lane=last)
    waiting.filter(event=earlier).update(next_attempt_at=timezone.now() + timedelta(hours=1))

    assert sending.send() == 2

    done = Delivery.objects.filter(status=DeliveryStatus.SUCCEEDED).values_list("lane", "event")
    assert sorted(done) == [(last, earlier.pk), (last, later.pk)]


@pytest.mark.django_db
@pytest.mark.usefixtures("other")
def test_a_lane_of_another_kind_makes_its_own_request(receiver: Receiver) -> None:
    receiver.say("/flow", Reply(500, body=b"no: another-secret"), Reply(200))
    event = sending.happened(told=False)
    delivery = queue(event, "other:a", workflow_id="a")
    assert delivery is not None
    assert queue(event, "other:a", workflow_id="a") is None

    sending.send()
    sending.make_due()
    sending.send()

    [first, _] = receiver.at("/flow")
    assert (first.method, first.headers["x-key"]) == ("PUT", "key-of-the-workflow")
    assert not [name for name in first.headers if name.startswith(("x-webhook", "x-hub"))]
    assert sending.state_of(event) == ("succeeded", 2, 200, "")
    assert sending.attempts_of(event)[0].response_body == "no: •••"


@pytest.mark.django_db
@pytest.mark.usefixtures("other")
@pytest.mark.parametrize(
    ("lane", "workflow", "status", "error"),
    [
        ("other:gone", "gone", DeliveryStatus.CANCELLED, "The workflow was deleted."),
        ("other:broken", "broken", DeliveryStatus.FAILED, "The request could not be made."),
        ("nobody:a", "", DeliveryStatus.CANCELLED, "Nothing here knows this receiver any more."),
    ],
    ids=["gone", "broken", "unknown"],
)
def test_what_cannot_be_sent_ends_without_a_call(
    receiver: Receiver, lane: str, workflow: str, status: str, error: str
) -> None:
    event = sending.happened(told=False)
    queue(event, lane, workflow_id=workflow)
    sending.webhook(receiver)
    fine = sending.happened()

    assert sending.send() == 1

    assert sending.state_of(event) == (status, 1, None, error)
    assert sending.attempts_of(event) == []
    assert sending.state_of(fine)[0] == "succeeded"
