"""Webhooks, from the event to the stored response, next to a bare HTTP client that only calls."""

from __future__ import annotations

import asyncio
import time
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
import orjson
from django.db import transaction

from benchmarks import servers
from benchmarks.report import Report
from benchmarks.servers import Server
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.http_client import Client
from proofroom.webhooks.http_calls import MAX_CALLS_PER_CHANNEL
from proofroom.webhooks.models import UNFINISHED, Delivery, Webhook
from proofroom.webhooks.models.webhook import NewWebhook
from proofroom.webhooks.services.webhooks import create_webhook

POSTS: Final = 1000
"""Number of posts with events. Events of one post are sent in order."""
EVENT: Final = "post.updated"
LONGEST: Final = 900.0
RECORDED: Final = "recorded, one by one"


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    count: int
    seconds: float
    cpu_seconds: float

    @property
    def per_second(self) -> float:
        return self.count / self.seconds

    @property
    def milliseconds(self) -> float:
        return 1000 * self.cpu_seconds / self.count


def measure(count: int, report: Report, *, beside_a_hung_one: bool) -> None:
    """Print the tables: calls next to the complete path, and ten receivers with one that hangs."""
    admin = User.objects.create_user("webhooks@example.com", None, role=Role.ADMIN)
    actor = Actor(user=admin, via="api")
    with servers.receiver() as receiver:
        report.say(f"{count:,} events, {MAX_CALLS_PER_CHANNEL} calls at a time.")
        bare, guarded = _bare(receiver, count), _guarded(receiver, count)
        _show([bare, guarded, *_whole_way(receiver, count, actor, report)], report)
        if not beside_a_hung_one:
            return
        report.say(f"Ten receivers, {count // 10:,} events each:")
        for hangs in (False, True):
            report.say(_ten(receiver, count // 10, actor, hangs=hangs))


def _body() -> bytes:
    event = {"id": str(uuid4()), "event": EVENT, "createdAt": "2026-01-01T00:00:00.000Z"}
    return orjson.dumps(event | {"data": _payload(uuid4())})


def _payload(post_id: UUID) -> dict[str, Any]:
    return {
        "id": str(post_id),
        "type": "blog",
        "locale": "en",
        "slug": "a-slow-morning",
        "title": "A slow morning",
        "status": "published",
        "url": "https://example.com/blog/a-slow-morning",
        "changedPaths": ["title", "modules.0.title"],
    }


def _bare(receiver: Server, count: int) -> Row:
    body, url = _body(), _url(receiver, "/bare")

    async def run() -> None:
        async with httpx.AsyncClient(trust_env=False) as client:

            async def call() -> int:
                headers = {"Content-Type": "application/json"}
                return (await client.post(url, content=body, headers=headers)).status_code

            await _side_by_side(call, count)

    return _timed("bare httpx", count, run)


def _guarded(receiver: Server, count: int) -> Row:
    body, url = _body(), _url(receiver, "/guarded")

    async def run() -> None:
        async with Client() as client:

            async def call() -> int:
                headers = {"Content-Type": "application/json"}
                return (await client.send("POST", url, headers=headers, body=body)).status

            await _side_by_side(call, count)

    return _timed("proofroom.core.http_client alone", count, run)


async def _side_by_side(call: Callable[[], Awaitable[int]], count: int) -> None:
    remaining = iter(range(count))

    async def work() -> None:
        for _ in remaining:
            assert await call() == 204

    await asyncio.gather(*(work() for _ in range(MAX_CALLS_PER_CHANNEL)))


def _timed(name: str, count: int, run: Callable[[], Any]) -> Row:
    begin, spent = time.monotonic(), time.process_time()
    asyncio.run(run())
    return Row(name, count, time.monotonic() - begin, time.process_time() - spent)


def _whole_way(receiver: Server, count: int, actor: Actor, report: Report) -> tuple[Row, Row]:
    """Measure recording without a worker, then the work of a worker."""
    _clear(receiver)
    create_webhook(
        actor=actor, webhook=NewWebhook(name="Hook", url=_url(receiver, "/hook"), events=[EVENT])
    )
    recorded = _recorded(count, actor)
    with servers.worker() as worker:
        while not Delivery.objects.exists():
            time.sleep(0.05)
        begin, spent = time.monotonic(), worker.cpu_seconds()
        _wait(receiver, lambda seen: seen["ids"] >= count)
        _wait(receiver, lambda _: not Delivery.objects.filter(status__in=UNFINISHED).exists())
        sent = Row(
            "told, signed, sent, noted",
            count,
            time.monotonic() - begin,
            worker.cpu_seconds() - spent,
        )
    seen = _ask(receiver, "/seen")
    assert seen["ids"] == count, seen
    if doubles := seen["paths"]["/hook"] - count:
        report.say(f"{doubles} calls were made twice.")
    return recorded, sent


def _recorded(count: int, actor: Actor) -> Row:
    posts = [uuid4() for _ in range(min(POSTS, count))]
    begin, spent = time.monotonic(), time.process_time()
    for number in range(count):
        post_id = posts[number % len(posts)]
        with transaction.atomic():
            outbox.record(EVENT, actor=actor, payload=_payload(post_id), post_id=post_id)
    return Row(RECORDED, count, time.monotonic() - begin, time.process_time() - spent)


def _ten(receiver: Server, count: int, actor: Actor, *, hangs: bool) -> str:
    """Measure nine receivers that answer, while the tenth answers or hangs."""
    _clear(receiver)
    good = [f"/good/{number}" for number in range(9)]
    for path in [*good, "/hang" if hangs else "/tenth"]:
        create_webhook(
            actor=actor, webhook=NewWebhook(name=path, url=_url(receiver, path), events=[EVENT])
        )
    _recorded(count, actor)
    with servers.worker():
        _wait(receiver, lambda seen: all(seen["paths"].get(path, 0) >= count for path in good))
    seen = _ask(receiver, "/seen")
    took = max(seen["last"][path] for path in good) - min(seen["first"][path] for path in good)
    tenth = "the tenth hangs" if hangs else "all ten answer"
    return (
        f"{tenth}: the other nine took {took:.1f} s, {9 * count / took:,.0f} calls per second; "
        f"the tenth had {seen['paths'].get('/hang' if hangs else '/tenth', 0)} calls by then."
    )


def _clear(receiver: Server) -> None:
    Delivery.objects.all().delete()
    Webhook.objects.all().delete()
    _ask(receiver, "/forget")


def _wait(receiver: Server, found: Callable[[dict[str, Any]], Any]) -> Any:
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        if value := found(_ask(receiver, "/seen")):
            return value
        time.sleep(0.2)
    raise SystemExit(f"The worker did not get there: {_ask(receiver, '/seen')}")


def _ask(receiver: Server, path: str) -> dict[str, Any]:
    with urllib.request.urlopen(_url(receiver, path), timeout=10) as answer:  # noqa: S310  # ours
        found: dict[str, Any] = orjson.loads(answer.read())
    return found


def _url(receiver: Server, path: str) -> str:
    return f"http://127.0.0.1:{receiver.port}{path}"


def _show(rows: list[Row], report: Report) -> None:
    bare = rows[0].milliseconds
    # For a few events, the worker's time is mostly its startup.
    report.ratios[RECORDED] = next(row for row in rows if row.name == RECORDED).milliseconds / bare
    report.show_table(
        ("what", "per second", "CPU ms each", "CPU of the bare client"),
        [
            (row.name, f"{row.per_second:,.0f}", f"{row.milliseconds:.3f}", f"{row.milliseconds / bare:.2f}")
            for row in rows
        ],
    )  # fmt: skip
