"""The public site and delivery API read from a replica: possibly delayed, but complete."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import psycopg
import pytest

from tests.faults.postgresql import OwnPostgresql, own_servers
from tests.faults.processes import Site, prepare

pytestmark = pytest.mark.services
SEEN_WITHIN: Final = 30.0
DISPATCH: Final = """
import json
from proofroom.core import outbox
from proofroom.core.models import LiveChange
outbox.sweep(20)
print(json.dumps(LiveChange.objects.order_by("pk").last().pk))
"""


@dataclass
class Running:
    site: Site
    leader: OwnPostgresql
    replica: OwnPostgresql
    editor: httpx.Client
    visitor: httpx.Client
    post_id: str

    def rename(self, title: str) -> None:
        body = {"title": title}
        answer = self.editor.put(f"/api/posts/{self.post_id}", json=body)
        assert answer.status_code == 200, answer.text

    def seen(self) -> set[str]:
        """Return the visible titles in every public interface."""
        delivered = f"/api/public/posts/{self.post_id}"
        asked_anew = f"?fields=title,id&per_page={time.monotonic_ns() % 90 + 1}"
        page = self.visitor.get("/blog/a-post").text
        return {
            self.visitor.get(delivered).json()["title"],
            self.visitor.get(f"/api/public/posts{asked_anew}").json()["data"][0]["title"],
            page[page.index("<title>") + 7 :].split("</title>")[0].split(" ")[0],
        }


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with own_servers(replica=True) as (leader, replica):
        assert replica is not None
        site = Site(tmp_path, leader.url, DATABASE_REPLICA_URL=replica.url)
        try:
            site.start("redis")
            made = site.ask(prepare("Before"))
            site.start("web")
            site.wait_for_web()
            url = f"http://127.0.0.1:{site.port}"
            with (
                httpx.Client(
                    base_url=url, headers={"Authorization": f"Bearer {made['token']}"}, timeout=30
                ) as editor,
                httpx.Client(base_url=url, timeout=30) as visitor,
            ):
                yield Running(site, leader, replica, editor, visitor, made["post"])
        finally:
            site.stop()


def wait_until(is_so: Callable[[], bool], site: Site) -> None:
    until = time.monotonic() + SEEN_WITHIN
    while not is_so():
        assert time.monotonic() < until, site.log("web")
        time.sleep(0.1)


def test_visitors_see_what_the_replica_has_and_then_what_is_new(running: Running) -> None:
    wait_until(lambda: running.seen() == {"Before"}, running.site)
    with psycopg.connect(running.replica.url, autocommit=True) as replica:
        replica.execute("SELECT pg_wal_replay_pause()")
        running.rename("After")

        # Writers read from the primary, and cache nothing for visitors.
        written = running.editor.get(f"/api/posts/{running.post_id}").json()
        assert written["title"] == "After"
        until = time.monotonic() + 2.5  # longer than a version is relied on
        while time.monotonic() < until:
            assert running.seen() == {"Before"}

        replica.execute("SELECT pg_wal_replay_resume()")
    wait_until(lambda: running.seen() == {"After"}, running.site)


def test_the_database_answers_while_the_replica_does_not(running: Running) -> None:
    wait_until(lambda: running.seen() == {"Before"}, running.site)
    running.replica.stop("immediate")
    running.rename("After")
    wait_until(lambda: running.seen() == {"After"}, running.site)
    assert "The replica does not answer" in running.site.whole_log("web")

    running.replica.start()
    running.rename("Again")
    wait_until(lambda: running.seen() == {"Again"}, running.site)


def test_a_replica_that_says_nothing_is_named_and_the_database_answers(running: Running) -> None:
    wait_until(lambda: running.seen() == {"Before"}, running.site)
    with running.replica.frozen():
        running.rename("After")
        wait_until(lambda: running.seen() == {"After"}, running.site)
        assert "no answer from PostgreSQL for 5 seconds" in running.site.whole_log("web")
        answer = running.visitor.get("/health/ready")
        assert (answer.status_code, answer.json()) == (
            200, {"status": "degraded", "missing": ["replica"]},
        )  # fmt: skip

    # Requests from before the recovery may still fail.
    wait_until(
        lambda: running.visitor.get("/health/ready").json()["status"] == "ready", running.site
    )


def test_changes_are_told_when_the_replica_has_them(running: Running) -> None:
    site, visitor = running.site, running.visitor
    wait_until(lambda: running.seen() == {"Before"}, site)
    since = visitor.get("/api/public/changes").json()["next"]

    def told() -> set[str]:
        answer = visitor.get("/api/public/changes", params={"since": since})
        assert answer.status_code == 200, answer.text
        return {row["tag"] for row in answer.json()["data"]}

    post = f"post:{running.post_id}"
    running.rename("Second")
    site.ask(DISPATCH)
    wait_until(lambda: post in told(), site)
    ahead = visitor.get("/api/public/changes", params={"since": since}).json()["next"]
    with psycopg.connect(running.replica.url, autocommit=True) as replica:
        replica.execute("SELECT pg_wal_replay_pause()")
        running.rename("Third")
        assert site.ask(DISPATCH) > int(ahead[1:].partition(".")[0])
        answer = visitor.get("/api/public/changes", params={"since": ahead}).json()
        assert answer["data"] == []
        ahead = answer["next"]
        # Of a row that only the primary has, as read while the replica did not answer.
        newest = f"c{site.ask(DISPATCH)}.{int(time.time())}"
        answer = visitor.get("/api/public/changes", params={"since": newest})
        assert (answer.status_code, answer.json()) == (200, {"data": [], "next": newest})

        replica.execute("SELECT pg_wal_replay_resume()")
    since = ahead
    wait_until(lambda: post in told(), site)
    wait_until(lambda: running.seen() == {"Third"}, site)
