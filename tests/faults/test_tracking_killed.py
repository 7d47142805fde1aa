"""The server is killed during tracking requests: confirmed events are stored and counted exactly once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import orjson
import pytest
from django.db import connection

from analytics.models import AnalyticsEvent, PostCount, SiteCount
from analytics.rollups.aggregate import add_all
from tests import make
from tests.faults.processes import Site

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
CLIENTS: Final = 4
SIZES: Final = (1, 1, 7, 1, 100)
KILLED: Final = "killed"
"""Application name of the server's connections in PostgreSQL."""
ENOUGH: Final = 60
"""Number of answered calls before the server is killed."""


@dataclass
class Reported:
    """The events of each call by name; `unsure` ones got no answer."""

    answered: Counter[str] = field(default_factory=Counter)
    unsure: Counter[str] = field(default_factory=Counter)
    enough: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    server = urlsplit(os.environ["DATABASE_URL"])
    name = connection.settings_dict["NAME"]
    database = urlunsplit(server._replace(path=f"/{name}", query=f"application_name={KILLED}"))
    site = Site(tmp_path, database, THROTTLE_ALLOW_IPS="127.0.0.1")
    site.environ["REDIS_URL"] = os.environ["REDIS_URL"]
    try:
        yield site
    finally:
        site.stop()


def report(site: Site, client: int, post_id: str, reported: Reported) -> None:
    """Send calls one after another until the server is gone."""
    link = HTTPConnection("127.0.0.1", site.port, timeout=20)
    for number in range(10_000):
        name, size = f"{client}-{number}", SIZES[number % len(SIZES)]
        event = {"eventType": "view", "postId": post_id, "metadata": {"call": name}}
        body = orjson.dumps(event if size == 1 else [event] * size)
        try:
            link.request(
                "POST", "/api/public/analytics/track", body, {"Content-Type": "text/plain"}
            )
            answer = link.getresponse()
            told = orjson.loads(answer.read())
        except (OSError, HTTPException):
            reported.unsure[name] = size
            return
        assert (answer.status, told) == (200, {"accepted": size})
        reported.answered[name] = size
        if len(reported.answered) >= ENOUGH:
            reported.enough.set()


def wait_for_others_to_end() -> None:
    """Wait until the killed server's transactions are committed or rolled back."""
    until = time.monotonic() + 20
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [KILLED]
            )
            if cursor.fetchone() == (0,):
                return
            time.sleep(0.02)
    raise AssertionError("the server's connections do not end")


def test_every_answered_event_is_stored_once_though_the_server_is_killed(site: Site) -> None:
    post = make.post()
    site.start("web")
    site.wait_for_web()
    reported = Reported()
    working = [
        threading.Thread(target=report, args=(site, number, str(post.pk), reported))
        for number in range(CLIENTS)
    ]

    for thread in working:
        thread.start()
    assert reported.enough.wait(60)
    site.kill("web", signal.SIGKILL)
    for thread in working:
        thread.join(30)
    wait_for_others_to_end()

    stored = Counter(
        metadata["call"] for metadata in AnalyticsEvent.objects.values_list("metadata", flat=True)
    )
    assert len(reported.unsure) == CLIENTS
    assert {name: stored[name] for name in reported.answered} == reported.answered
    for name in stored - reported.answered:
        assert stored[name] == reported.unsure[name]
    assert add_all(seconds=30) == stored.total()
    for model in (SiteCount, PostCount):
        days = model._default_manager.filter(dimension="total", grain="day")
        assert sum(days.values_list("views", flat=True)) == stored.total()
