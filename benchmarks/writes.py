"""Writes of a post, and an event sent to a webhook, in turns with bare psycopg that writes the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final
from uuid import uuid4

import httpx
import orjson
import psycopg
from django.db import transaction
from django.test import Client
from psycopg.rows import TupleRow

from benchmarks import floor_writes
from benchmarks.cpu import cpu_of
from benchmarks.load import Series
from benchmarks.report import Report
from benchmarks.servers import Server
from benchmarks.statements import counted
from content.document.document import PostDocument
from content.layers import stage
from content.models import Layer
from content.store import document_edits
from proofroom.accounts.models import User
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from proofroom.core.tasks import dispatch_event, dispatch_events
from proofroom.webhooks.delivery import send_due
from proofroom.webhooks.delivery_queue import claim_deliveries
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.models.webhook import NewWebhook
from proofroom.webhooks.services.webhooks import create_webhook

APPROVED: Final = (1, 50)
"""Numbers of changed paths of one post."""
TOLD: Final = ((1, 1), (50, 1), (1, 50))
"""Numbers of events in one batch, and of webhooks for each event."""
CLAIMED: Final = 100
"""Number of webhooks with a due delivery each."""
_EVENT_NAME: Final = "post.updated"
_NEW_MODULES: Final = [
    {"type": "hero", "props": {"title": "A slow morning", "subtitle": "Kettle and filter."}},
    {"type": "callout", "props": {"title": "First", "tone": "info"}},
    {"type": "callout", "props": {"title": "Second", "tone": "info"}},
    {"type": "callout", "props": {"title": "Third", "tone": "info"}},
    {"type": "callout", "props": {"title": "Fourth", "tone": "info"}},
]
Bare = psycopg.Connection[TupleRow]


@dataclass(frozen=True, slots=True)
class Row:
    """Milliseconds: medians of the clock and of this process's CPU. `statements`: the lowest number of all rounds."""

    name: str
    milliseconds: float
    cpu: float
    ratio: float
    statements: int


def new_post(number: int) -> dict[str, object]:
    """Return a request body for a post with five modules."""
    title = f"Measured {number}"
    words = {"title": title, "slug": f"measured-{number}", "excerpt": "Kettle and filter."}
    return {"type": "blog", **words, "modules": _NEW_MODULES}


def creations(path: str, headers: dict[str, str]) -> Series:
    """Return POST requests for new posts, each with its own slug."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())

    def request(number: int) -> bytes:
        body = orjson.dumps(new_post(number))
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}"
        tail = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return f"{head}{tail}".encode() + body

    return Series(request)


def measure(
    url: str, post_ids: Sequence[str], editor_id: int, receiver: Server, rounds: int
) -> list[Row]:
    """Measure approvals of one path and of fifty, one event to one webhook, and batches of deliveries."""
    user = User.objects.get(pk=editor_id)
    ids = iter(post_ids)
    rows = []
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as bare:
        floor_writes.make_tables(bare)
        for paths in APPROVED:
            name = f"approval of {paths} path{'s' if paths > 1 else ''}"
            ours = [_approval(next(ids), user, paths) for _ in range(rounds + 1)]
            floors = [_bare_approval(bare, paths) for _ in range(rounds + 1)]
            rows.append(_in_turns(name, ours, floors))
        hook = f"http://127.0.0.1:{receiver.port}/hook"
        admin = User.objects.create_user("writing@example.com", None, role="admin")
        actor = Actor(user=admin, via="api")
        outbox.sweep(60)
        create_webhook(actor=actor, webhook=NewWebhook(name="Hook", url=hook, events=[_EVENT_NAME]))
        with httpx.Client(trust_env=False) as client:
            sendings = (_sent(actor) for _ in range(rounds + 1))
            calls = (_bare_dispatch(bare, client, hook) for _ in range(rounds + 1))
            rows.append(_in_turns("one event to one webhook", sendings, calls))
        assert Delivery.objects.filter(status="succeeded").count() == rounds + 1
        for events, webhooks in TOLD:
            _make_webhooks(actor, hook, webhooks)
            batches = (_queue_batch(actor, events) for _ in range(rounds + 1))
            bare_batches = (_bare_telling(bare, events, webhooks) for _ in range(rounds + 1))
            name = f"{events} event{'s' if events > 1 else ''} noted for {webhooks} webhook"
            rows.append(_in_turns(name + ("s" if webhooks > 1 else ""), batches, bare_batches))
        _make_webhooks(actor, hook, CLAIMED)
        _queue_batch(actor, rounds + 1)()
        _bare_telling(bare, rounds + 1, CLAIMED)()
        floor_writes.index_deliveries(bare)
        channels = [f"webhook:{key}" for key in Webhook.objects.values_list("pk", flat=True)]
        name = f"a delivery claimed of each of {CLAIMED} webhooks"
        ours = [_claim(channels)] * (rounds + 1)
        rows.append(_in_turns(name, ours, [_bare_claim(bare)] * (rounds + 1)))
    return rows


def _make_webhooks(actor: Actor, url: str, count: int) -> None:
    """Create webhooks until there are `count`."""
    for number in range(Webhook.objects.count(), count):
        webhook = NewWebhook(name=f"Hook {number}", url=url, events=[_EVENT_NAME])
        create_webhook(actor=actor, webhook=webhook)


def _in_turns(
    name: str, ours: Iterable[Callable[[], object]], floors: Iterable[Callable[[], object]]
) -> Row:
    """Measure both in turns. The first round fills permanent caches and does not count."""
    times, spent, ratios, statements = [], [], [], []
    for measured, bare in zip(ours, floors, strict=True):
        begin = time.perf_counter()
        with counted() as sent:
            cpu = cpu_of(measured)
        times.append(1000 * (time.perf_counter() - begin))
        spent.append(1000 * cpu)
        ratios.append(cpu / cpu_of(bare))
        statements.append(len(sent))
    return Row(
        name, median(times[1:]), median(spent[1:]), median(ratios[1:]), min(statements[1:])
    )  # fmt: skip


def _approval(post_id: str, user: User, paths: int) -> Callable[[], object]:
    """Stage changes, and return the request that approves them."""
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user)

    def edit(document: PostDocument) -> PostDocument:
        document = document.with_fields({"excerpt": f"Changed {uuid4()}."})
        if paths > 1:
            document = document.with_fields({"metaTitle": "Changed."})
        for number in range(paths - 2):
            document, _ = document_edits.add_module(
                document, type="callout", props={"title": f"No. {number}"}
            )
        return document

    stage(post_id=post_id, layer=Layer.REVIEW, actor=Actor(user=user, via="api"), edit=edit)
    found = client.get(f"/api/posts/{post_id}/changes?layer=review").json()
    assert len(found["changes"]) == paths, len(found["changes"])

    def approve() -> None:
        answer = client.post(
            f"/api/posts/{post_id}/review/approve",
            {"digest": found["digest"]},
            content_type="application/json",
        )
        assert answer.status_code == 200, answer.content

    return approve


def _bare_approval(bare: Bare, paths: int) -> Callable[[], object]:
    modules = [
        {"type": "callout", "props": {"title": f"No. {number}"}} for number in range(paths - 2)
    ]
    content = orjson.dumps({"excerpt": "Changed.", "modules": modules})
    post_id = floor_writes.stage(bare, content)
    return lambda: floor_writes.approve(bare, post_id)


def _recorded(actor: Actor, count: int) -> list[Event]:
    """Record events of one post each, not dispatched. Called right before use, because a worker looks for old
    events.
    """
    with transaction.atomic():
        things = [(uuid4(), {"id": str(uuid4())}) for _ in range(count)]
        return outbox.record_all(_EVENT_NAME, things, actor=actor)


def _sent(actor: Actor) -> Callable[[], object]:
    """Return the path from the stored event to the stored response, as the messages to both workers run it."""
    [event] = _recorded(actor, 1)

    def go() -> None:
        dispatch_event(event.pk, str(event.post_id))
        send_due()

    return go


def _queue_batch(actor: Actor, count: int) -> Callable[[], object]:
    """Return the first half of that path for a batch: deliveries for each webhook, nothing sent."""
    posts = [str(event.post_id) for event in _recorded(actor, count)]
    return lambda: dispatch_events([], posts)


def _bare_telling(bare: Bare, events: int, receivers: int) -> Callable[[], object]:
    """Return the same rows in two statements of one transaction."""
    uids = [floor_writes.note_happened(bare, _EVENT_NAME) for _ in range(events)]
    return lambda: floor_writes.tell(bare, uids, receivers)


def _claim(channels: Sequence[str]) -> Callable[[], object]:
    """Return the claim of the first delivery of each channel, as the sender does before its calls."""

    def go() -> None:
        claimed = claim_deliveries(dict.fromkeys(channels, 1))
        assert len(claimed) == len(channels), len(claimed)

    return go


def _bare_claim(bare: Bare) -> Callable[[], object]:
    receivers = [str(number) for number in range(CLAIMED)]
    return lambda: floor_writes.claim(bare, receivers)


def _bare_dispatch(bare: Bare, client: httpx.Client, url: str) -> Callable[[], object]:
    """Return the call, with an event row before and after it."""
    body = orjson.dumps({"id": str(uuid4()), "event": _EVENT_NAME})

    def go() -> None:
        floor_writes.note_happened(bare, _EVENT_NAME)
        answer = client.post(url, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 204, answer.status_code
        floor_writes.note_happened(bare, _EVENT_NAME)

    return go


def show(rows: Sequence[Row], report: Report) -> None:
    one = rows[0].milliseconds
    for row in rows:
        report.ratios[row.name] = row.ratio
        report.statements[row.name] = row.statements
    report.show_table(
        ("write", "ms", "of an approval of one path", "CPU ms", "of the floor", "SQL"),
        [
            (
                row.name, f"{row.milliseconds:.0f}", f"{row.milliseconds / one:.1f}",
                f"{row.cpu:.1f}", f"{row.ratio:.1f}", str(row.statements),
            )
            for row in rows
        ],
    )  # fmt: skip
