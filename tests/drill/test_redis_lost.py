"""docs/how-to/after-a-failover.md: Redis loses everything while messages wait in it, and all work is done."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
import redis

from tests.drill.server import Server
from tests.drill.site_record import RECEIVER_PATH, are_ready, until, upload
from tests.receiver import Receiver

pytestmark = pytest.mark.drill
QUEUES: Final = ("celery", "deliveries", "agents")
WITHIN: Final = 120.0
"""Seconds. The page says a minute; a busy machine needs longer."""


def test_work_whose_messages_are_lost_is_done(server: Server, receiver: Receiver) -> None:
    sample = server.sample
    person = sample.person()
    url = f"/api/posts/{sample.post_id}"
    run_url = f"{url}/agents/seo-specialist/run"
    server.site.kill("worker")
    sent_before = len(receiver.at(RECEIVER_PATH))
    # An event with a webhook, a picture without its sizes, a run of an agent, and a post that is due soon.
    person.send("PUT", url, json={"status": "draft"})
    person.send("PUT", url, json={"status": "published"})
    upload(person, 5)
    run = person.send("POST", run_url, json={})["id"]
    later = person.send(
        "POST", "/api/posts", json={"type": "blog", "title": "Later", "slug": "later"}
    )
    moment = datetime.now(UTC) + timedelta(seconds=5)
    person.send("PUT", f"/api/posts/{later['id']}", json={"publishAt": moment.isoformat()})

    with redis.Redis.from_url(server.site.environ["REDIS_URL"]) as queue:
        until(
            "messages in the queues", lambda: all(queue.llen(name) for name in ("celery", "agents"))
        )
        waiting = messages(queue)
        server.site.kill("redis")
        assert person.http.get("/").status_code == 200
        person.send("PUT", url, json={"excerpt": "Written without Redis"})
        server.site.start("redis")
        until("an empty Redis", lambda: answers(queue))
        # The web process and beat may have sent new ones.
        assert not waiting & messages(queue)

    begun = time.monotonic()
    server.site.start("worker")

    def ended() -> Any:
        found = person.send("GET", f"/api/agent-runs/{run}")
        return found if found["finishedAt"] else None

    def is_published() -> bool:
        found: str = person.send("GET", f"/api/posts/{later['id']}")["status"]
        return found == "published"

    receiver.wait(sent_before + 1, RECEIVER_PATH, WITHIN)
    said = [f"webhook {time.monotonic() - begun:.0f} s"]
    with sample.program() as program:
        until("the sizes of the picture", lambda: are_ready(program), WITHIN)
    said.append(f"picture {time.monotonic() - begun:.0f} s")
    until("the publication", is_published, WITHIN)
    said.append(f"publication {time.monotonic() - begun:.0f} s")
    found = until("the end of the run", ended, WITHIN)
    said.append(f"run {time.monotonic() - begun:.0f} s")
    assert (found["status"], found["error"]) == ("succeeded", None), found
    sys.stdout.write(f"after the start of the worker: {', '.join(said)}\n")
    # Sessions are in the database.
    assert person.send("GET", "/api/auth/me")["email"] == "admin@example.com"


def messages(queue: redis.Redis) -> set[bytes | str]:
    return {message for name in QUEUES for message in queue.lrange(name, 0, -1)}


def answers(queue: redis.Redis) -> bool:
    try:
        return bool(queue.ping())
    except redis.ConnectionError:
        return False
