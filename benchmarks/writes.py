"""Writes of a post, and an event sent to a webhook, each in turns with bare psycopg that writes the same rows."""

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
"""Paths of one post."""
TOLD: Final = ((1, 1), (50, 1), (1, 50))
"""Events of one batch, and webhooks that hear of each."""
CLAIMED: Final = 100
"""Webhooks of which each has something due."""
_TOLD: Final = "post.updated"
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
    """Medians of the clock and of this process's CPU, milliseconds; the fewest statements of any time."""

    name: str
    milliseconds: float
    cpu: float
    ratio: float
    statements: int


def new_post(number: int) -> dict[str, object]:
    """What a client sends to have a post with five modules made."""
    title = f"Measured {number}"
    words = {"title": title, "slug": f"measured-{number}", "excerpt": "Kettle and filter."}
    return {"type": "blog", **words, "modules": _NEW_MODULES}


def creations(path: str, headers: dict[str, str]) -> Series:
    """POSTs of new posts, each with a slug of its own."""
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
    """Approvals of one path and of fifty, one event sent to one webhook, and batches noted for webhooks."""
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
        create_webhook(actor=actor, webhook=NewWebhook(name="Hook", url=hook, events=[_TOLD]))
        with httpx.Client(trust_env=False) as client:
            sendings = (_sent(actor) for _ in range(rounds + 1))
            calls = (_bare_dispatch(bare, client, hook) for _ in range(rounds + 1))
            rows.append(_in_turns("one event to one webhook", sendings, calls))
        assert Delivery.objects.filter(status="succeeded").count() == rounds + 1
        for events, webhooks in TOLD:
            _make_webhooks(actor, hook, webhooks)
            batches = (_told(actor, events) for _ in range(rounds + 1))
            bare_batches = (_bare_telling(bare, events, webhooks) for _ in range(rounds + 1))
            name = f"{events} event{'s' if events > 1 else ''} noted for {webhooks} webhook"
            rows.append(_in_turns(name + ("s" if webhooks > 1 else ""), batches, bare_batches))
        _make_webhooks(actor, hook, CLAIMED)
        _told(actor, rounds + 1)()
        _bare_telling(bare, rounds + 1, CLAIMED)()
        floor_writes.index_deliveries(bare)
        channels = [f"webhook:{key}" for key in Webhook.objects.values_list("pk", flat=True)]
        name = f"a delivery claimed of each of {CLAIMED} webhooks"
        ours = [_claim(channels)] * (rounds + 1)
        rows.append(_in_turns(name, ours, [_bare_claim(bare)] * (rounds + 1)))
    return rows


def _make_webhooks(actor: Actor, url: str, count: int) -> None:
    """Make those that are missing to so many."""
    for number in range(Webhook.objects.count(), count):
        webhook = NewWebhook(name=f"Hook {number}", url=url, events=[_TOLD])
        create_webhook(actor=actor, webhook=webhook)


def _in_turns(
    name: str, ours: Iterable[Callable[[], object]], floors: Iterable[Callable[[], object]]
) -> Row:
    """The first of each loads what is kept for good, and does not count."""
    taken, spent, ratios, statements = [], [], [], []
    for mine, bare in zip(ours, floors, strict=True):
        begin = time.perf_counter()
        with counted() as sent:
            cpu = cpu_of(mine)
        taken.append(1000 * (time.perf_counter() - begin))
        spent.append(1000 * cpu)
        ratios.append(cpu / cpu_of(bare))
        statements.append(len(sent))
    return Row(
        name, median(taken[1:]), median(spent[1:]), median(ratios[1:]), min(statements[1:])
    )  # fmt: skip


def _approval(post_id: str, user: User, paths: int) -> Callable[[], object]:
    """The request that approves what was staged before."""
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
    """Events of a post each, which nobody was told of. They are made when it is their turn: old ones make a worker
    look for others."""
    with transaction.atomic():
        things = [(uuid4(), {"id": str(uuid4())}) for _ in range(count)]
        return outbox.record_all(_TOLD, things, actor=actor)


def _sent(actor: Actor) -> Callable[[], object]:
    """From the event that is stored to the answer that is noted: what the messages to both workers have them do."""
    [event] = _recorded(actor, 1)

    def go() -> None:
        dispatch_event(event.pk, str(event.post_id))
        send_due()

    return go


def _told(actor: Actor, count: int) -> Callable[[], object]:
    """The first half of it, for a batch: each event noted for each webhook, and nothing sent yet."""
    posts = [str(event.post_id) for event in _recorded(actor, count)]
    return lambda: dispatch_events([], posts)


def _bare_telling(bare: Bare, events: int, receivers: int) -> Callable[[], object]:
    """The rows of it, in two statements of one transaction."""
    uids = [floor_writes.note_happened(bare, _TOLD) for _ in range(events)]
    return lambda: floor_writes.tell(bare, uids, receivers)


def _claim(channels: Sequence[str]) -> Callable[[], object]:
    """What the sender does before its calls: the first delivery of each."""

    def go() -> None:
        claimed = claim_deliveries(dict.fromkeys(channels, 1))
        assert len(claimed) == len(channels), len(claimed)

    return go


def _bare_claim(bare: Bare) -> Callable[[], object]:
    receivers = [str(number) for number in range(CLAIMED)]
    return lambda: floor_writes.claim(bare, receivers)


def _bare_dispatch(bare: Bare, client: httpx.Client, url: str) -> Callable[[], object]:
    """The call, and a row of what happened before it and after."""
    body = orjson.dumps({"id": str(uuid4()), "event": _TOLD})

    def go() -> None:
        floor_writes.note_happened(bare, _TOLD)
        answer = client.post(url, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 204, answer.status_code
        floor_writes.note_happened(bare, _TOLD)

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
