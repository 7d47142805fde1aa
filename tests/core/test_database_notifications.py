"""A process wakes another exactly after its commit, or reports that it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from queue import Queue
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction

from proofroom.core import database_notifications
from proofroom.core.database_notifications import is_listening, listen, notify, stop_listening

services = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
WAIT = 20


class Heard:
    """Records the messages of a subscription. Starts when the process is listening."""

    def __init__(self, channel: str = "posts") -> None:
        self.payloads: Queue[str] = Queue()
        self.lost = Event()
        self.subscription = listen(channel, self.payloads.put, lost=self.lost.set)

    def next(self) -> str:
        return self.payloads.get(timeout=WAIT)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if other listeners exist in this process, for example pages of other tests."""
    stop_listening()
    with monkeypatch.context() as patched:
        patched.setattr(database_notifications._listener, "_subscriptions", defaultdict(list))
        yield
        stop_listening()


@pytest.fixture
def heard(alone: None) -> Iterator[Heard]:
    subscribed = Heard()
    assert subscribed.lost.wait(WAIT)
    subscribed.lost.clear()
    assert is_listening()
    yield subscribed
    subscribed.subscription.close()


def listening_sessions() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND query = 'SELECT 1'"
        )
        return [pid for (pid,) in cursor.fetchall()]


def last_look() -> object:
    """Return the time of the last query of the listening session."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(query_start) FROM pg_stat_activity WHERE pid = ANY(%s)",
            [listening_sessions()],
        )
        return cursor.fetchone()


class TestOnPostgresql:
    pytestmark = services

    def test_a_notification_arrives_with_the_commit_and_not_without(self, heard: Heard) -> None:
        with transaction.atomic():
            notify("posts", "undone")
            transaction.set_rollback(True)
        with transaction.atomic():
            notify("posts", "committed")
            notify("another channel", "for others")
            notify("posts")

        assert [heard.next(), heard.next()] == ["committed", ""]
        assert heard.payloads.empty()

    def test_what_arrives_between_two_looks_costs_no_round_trip(
        self, monkeypatch: pytest.MonkeyPatch, alone: None
    ) -> None:
        monkeypatch.setattr(database_notifications, "HEARTBEAT_SECONDS", 600.0)
        heard = Heard()
        assert heard.lost.wait(WAIT)
        notify("posts", "first")  # heard after the look that begins to listen
        assert heard.next() == "first"
        asked = last_look()

        for number in range(3):
            notify("posts", str(number))
            assert heard.next() == str(number)

        assert last_look() == asked
        heard.subscription.close()

    def test_nothing_arrives_before_the_commit(self, heard: Heard) -> None:
        with transaction.atomic():
            notify("posts", "later")
            # After this round trip all earlier notifications have been delivered.
            other = Heard("media")
            assert other.lost.wait(WAIT)
            assert heard.payloads.empty()
        assert heard.next() == "later"
        other.subscription.close()

    def test_of_a_closed_subscription_nothing_is_called(self, heard: Heard) -> None:
        other = Heard()
        other.subscription.close()
        other.subscription.close()
        notify("posts", "one")

        assert heard.next() == "one"
        assert other.payloads.empty()

    def test_a_listener_that_fails_keeps_no_other_from_hearing(self, heard: Heard) -> None:
        def fail(payload: str) -> None:
            raise RuntimeError(payload)

        first = listen("posts", fail, lost=lambda: None)
        second = Heard()
        notify("posts", "one")

        assert second.next() == heard.next() == "one"
        first.close()
        second.subscription.close()

    def test_a_lost_connection_is_logged_and_reopened(self, heard: Heard) -> None:
        (pid,) = listening_sessions()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])

        assert heard.lost.wait(WAIT)
        while not is_listening():
            heard.lost.clear()
            assert heard.lost.wait(WAIT)
        notify("posts", "again")
        assert heard.next() == "again"
        assert listening_sessions() != [pid]

    def test_who_listens_to_another_channel_hears_that_one_only(self, heard: Heard) -> None:
        other = Heard("media")
        assert other.lost.wait(WAIT)
        assert is_listening()
        notify("media", "image")

        assert other.next() == "image"
        assert heard.payloads.empty()
        other.subscription.close()

    def test_behind_a_pooler_that_loses_notifications_everybody_goes_on_looking(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(database_notifications, "PROBE_SECONDS", 0.01)
        monkeypatch.setattr(database_notifications, "notify", lambda channel: None)
        subscribed = Heard()

        for _ in range(2):
            assert subscribed.lost.wait(WAIT)
            subscribed.lost.clear()
            assert not is_listening()
        subscribed.subscription.close()

    def test_the_connection_ends_when_nobody_listens_any_more(
        self, heard: Heard, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(database_notifications, "IDLE_SECONDS", -1.0)
        thread = database_notifications._listener._thread
        assert thread is not None
        heard.subscription.close()
        thread.join(60)

        assert not thread.is_alive()
        assert not is_listening()
        while listening_sessions():
            """The server takes a moment to notice."""

    def test_a_stopped_thread_leaves_no_connection_and_begins_again(self, heard: Heard) -> None:
        stop_listening()

        assert not is_listening()
        while listening_sessions():
            """The server takes a moment to notice."""
        other = Heard("media")
        assert other.lost.wait(WAIT)
        notify("posts", "one")
        assert heard.next() == "one"
        other.subscription.close()

    def test_a_child_process_listens_by_itself(self) -> None:
        url = "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(
            **connection.settings_dict
        )
        ended = subprocess.run(
            [sys.executable, "-c", FORKED],
            env={
                **os.environ,
                "DATABASE_URL": url,
                "DJANGO_SETTINGS_MODULE": "cms_project.settings",
            },
            capture_output=True,
            text=True,
            timeout=60,
        )

        assert (ended.returncode, ended.stdout) == (0, "parent heard one\nchild heard two\n"), (
            ended.stderr
        )


FORKED = """
import os, sys
from queue import Queue
import django
django.setup(set_prefix=False)
from django.db import connections
from proofroom.core.database_notifications import is_listening, listen, notify
heard, lost = Queue(), Queue()
listen("posts", heard.put, lost=lambda: lost.put(None))
lost.get(timeout=20)
notify("posts", "one")
print("parent heard", heard.get(timeout=20), flush=True)
connections["default"].close()
connections["default"].close_pool()
child = os.fork()
if not child:
    lost = Queue()
    assert not is_listening()
    lost.get(timeout=20)
    assert is_listening()
    notify("posts", "two")
    print("child heard", heard.get(timeout=20), flush=True)
    sys.exit()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_on_sqlite_nothing_is_sent_and_nobody_listens(django_assert_num_queries: Any) -> None:
    heard = Heard()
    with django_assert_num_queries(0):
        notify("posts", "one")

    assert not is_listening()
    assert database_notifications._listener._thread is None
    heard.subscription.close()
    assert heard.payloads.empty()


@pytest.mark.parametrize("payload", ["x" * 8000, "ü" * 4000])
def test_a_payload_that_is_too_long_is_refused_everywhere(payload: str) -> None:
    with pytest.raises(ValueError, match="8000 bytes; PostgreSQL carries 7999"):
        notify("posts", payload)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_the_longest_payload_arrives(heard: Heard) -> None:
    notify("posts", "x" * database_notifications.PAYLOAD_MAX_BYTES)

    assert len(heard.next()) == database_notifications.PAYLOAD_MAX_BYTES
