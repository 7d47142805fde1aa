"""A thousand changes over REST, while web server, worker and broker are killed repeatedly.

Real processes on PostgreSQL and a separate Redis, and a receiver of all events.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from tests.faults.clients import Made, change
from tests.faults.processes import Site, own_database
from tests.receiver import Receiver, serving

pytestmark = pytest.mark.services
SEED: Final = 20_261_121
CHANGES: Final = 1000
CLIENTS: Final = 8
KILLS: Final = ("web", "worker", "redis") * 3
KINDS: Final = ["post.created", "post.updated", "post.published", "post.deleted", "form.submitted"]
PREPARE = """
import json, os
from django.core.management import call_command
call_command("migrate", verbosity=0)
from proofroom.accounts.services.tokens import create_token
from tests import make
from proofroom.webhooks.models.webhook import NewWebhook
from proofroom.webhooks.services.webhooks import create_webhook
admin = make.actor("admin", via="admin")
make.form()
create_webhook(
    actor=admin, webhook=NewWebhook(name="All", url=os.environ["RECEIVER"], events={kinds})
)
rights = ["posts.view", "posts.create", "posts.edit", "posts.publish", "posts.delete"]
print(json.dumps(create_token(name="Client", permissions=rights, actor=admin)[1]))
"""


@dataclass(frozen=True)
class Row:
    """A stored event."""

    id: int
    uid: str
    name: str
    post_id: UUID | None
    payload: dict[str, Any]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving() as found:
        yield found


@pytest.fixture
def site(tmp_path: Path, receiver: Receiver) -> Iterator[Site]:
    with own_database() as database:
        site = Site(
            tmp_path,
            database,
            OUTGOING_ALLOWED_HOSTS="127.0.0.1",
            RECEIVER=receiver.url("/all"),
            WEBHOOK_RETRY_SECONDS="1,1,1,1,1,1",
        )
        try:
            yield site
        finally:
            site.stop()


def test_every_change_is_delivered_at_least_once_in_order_and_nothing_else(
    site: Site, receiver: Receiver
) -> None:
    begun = time.monotonic()
    site.start("redis")
    token: str = site.ask(PREPARE.format(kinds=KINDS))
    site.start("web")
    site.start("worker")
    site.wait_for_web()
    made, ended = Made(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        killer = pool.submit(kill_at_random, site, made, ended)
        try:
            change(made, port=site.port, token=token, clients=CLIENTS, changes=CHANGES, seed=SEED)
        finally:
            ended.set()
        killer.result()
    say(f"{made.count} changes, {made.unsure} cut off, {time.monotonic() - begun:.0f} s")

    with psycopg.connect(site.database, autocommit=True) as database:
        wait_until_told(database, site)
        rows = events_of(database)
        say(f"{len(rows)} events, {len(receiver.requests)} calls, {time.monotonic() - begun:.0f} s")

        assert_each_was_received(rows, receiver)
        assert_each_post_was_told_in_order(rows, receiver)
        assert_each_change_has_its_events(rows, made, database)
        assert_each_event_has_one_delivery(rows, database)


def say(line: str) -> None:
    """Print a line, visible on failure or with `-s`."""
    sys.stdout.write(f"{line}\n")


def kill_at_random(site: Site, made: Made, ended: threading.Event) -> None:
    """Kill and restart processes after certain numbers of changes."""
    random = Random(SEED)  # noqa: S311  # the same every time
    names = random.sample(KILLS, len(KILLS))
    moments = sorted(random.sample(range(CHANGES // 20, CHANGES * 19 // 20), len(names)))
    for moment, name in zip(moments, names, strict=True):
        while made.count < moment and not ended.is_set():
            time.sleep(0.005)
        site.revive("worker")
        site.kill(name)
        say(f"killed {name} after {made.count} changes")
        time.sleep(random.uniform(0, 0.5))
        site.start(name)


def wait_until_told(database: psycopg.Connection[Any], site: Site, seconds: float = 120) -> None:
    waiting = (
        "SELECT (SELECT count(*) FROM proofroom_core_event WHERE dispatched_at IS NULL),"
        " (SELECT count(*) FROM proofroom_webhooks_delivery WHERE status IN ('pending', 'sending'))"
    )
    until = time.monotonic() + seconds
    while (left := database.execute(waiting).fetchone()) != (0, 0):
        assert time.monotonic() < until, f"events and deliveries left: {left}\n{site.log('worker')}"
        # One whose broker goes away at an unlucky moment may end: kombu's Redis transport fails as it closes.
        site.revive("worker")
        time.sleep(0.2)


def events_of(database: psycopg.Connection[Any]) -> list[Row]:
    found = database.execute(
        "SELECT id, uid::text, name, post_id, payload FROM proofroom_core_event WHERE name = ANY(%s) ORDER BY id",
        [KINDS],
    )
    return [Row(*row) for row in found]


def assert_each_was_received(rows: list[Row], receiver: Receiver) -> None:
    received = {seen.json()["id"] for seen in receiver.requests}
    recorded = {row.uid for row in rows}
    assert recorded - received == set(), "lost"
    assert received - recorded == set(), "invented"
    bodies = {row.uid: (row.name, row.payload) for row in rows}
    for seen in receiver.requests:
        body = seen.json()
        assert (body["event"], body["data"]) == bodies[body["id"]]


def assert_each_post_was_told_in_order(rows: list[Row], receiver: Receiver) -> None:
    first: dict[str, int] = {}
    for place, seen in enumerate(receiver.requests):
        first.setdefault(seen.json()["id"], place)
    places: dict[UUID, list[int]] = defaultdict(list)
    for row in rows:
        if row.post_id is not None:
            places[row.post_id].append(first[row.uid])
    assert [id_ for id_, found in places.items() if found != sorted(found)] == []


def assert_each_change_has_its_events(
    rows: list[Row], made: Made, database: psycopg.Connection[Any]
) -> None:
    kinds: dict[UUID, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.post_id is not None:
            kinds[row.post_id][row.name] += 1
    posts = database.execute("SELECT id, version, deleted_at FROM content_post").fetchall()
    assert {id_ for id_, _, _ in posts} == set(kinds)
    for id_, version, deleted_at in posts:
        found = kinds[id_]
        # Each change of a post is a version of it.
        assert found["post.created"] + found["post.updated"] + found["post.published"] == version
        assert (found["post.created"], found["post.deleted"]) == (1, deleted_at is not None)

    titles = Counter(
        row.payload["title"]
        for row in rows
        if row.name != "form.submitted" and "post.title" in row.payload["changedPaths"]
    )
    assert titles == dict.fromkeys(made.titles, 1)
    assert {id_ for id_, found in kinds.items() if found["post.deleted"]} == set(
        map(UUID, made.deleted)
    )
    stored = [id_ for (id_,) in database.execute("SELECT id::text FROM forms_formsubmission")]
    told = [row for row in rows if row.name == "form.submitted"]
    assert sorted(stored) == sorted(row.payload["submissionId"] for row in told)
    assert {row.payload["payload"]["message"] for row in told} == set(made.submitted)


def assert_each_event_has_one_delivery(rows: list[Row], database: psycopg.Connection[Any]) -> None:
    found = database.execute(
        "SELECT event_id, status FROM proofroom_webhooks_delivery ORDER BY event_id"
    )
    assert found.fetchall() == [(row.id, "succeeded") for row in rows]
