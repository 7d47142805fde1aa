"""Threads that must never end continue after any error, which is reported."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection

from proofroom.core.database.postgresql.answer_watch import AnswerWatch
from proofroom.core.diagnostics.doctor import background_threads
from proofroom.core.observability.background_loop import LOOPS, BackgroundLoop, failed_loops
from proofroom.core.observability.operations import MeasuredOperation, operation_ended

ROOT = Path(__file__).resolve().parents[2]


def wait_until(is_true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if is_true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def test_a_loop_goes_on_after_any_error_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("proofroom.core.observability.background_loop.PAUSE_SECONDS", 0.0)
    errors = [ValueError("one"), ValueError("two"), KeyError("three")]
    turns: list[int] = []
    measured: list[MeasuredOperation] = []

    def turn() -> bool:
        turns.append(1)
        if errors:
            raise errors.pop(0)
        return False

    with operation_ended.registered_temporarily(measured.append):
        loop = BackgroundLoop("notifications", turn)
        loop.start()
        loop.join(20)

    assert (len(turns), loop.is_alive()) == (4, False)
    assert [(one.name, one.outcome) for one in measured] == [("thread notifications", "failed")] * 3
    assert caplog.text.count("continues after an error") == 2
    assert failed_loops()["notifications"]["error"] == "KeyError"
    (found,) = background_threads()
    assert (found.level, found.subject) == ("warn", "background threads")
    assert "notifications failed with KeyError" in found.found


def test_what_notes_an_error_may_fail_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OSError("away")

    monkeypatch.setattr("proofroom.core.observability.background_loop.PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(cache, "set", fail)
    errors = [ValueError("one")]

    def turn() -> bool:
        if errors:
            raise errors.pop(0)
        return False

    loop = BackgroundLoop("metrics", turn)
    loop.start()
    loop.join(20)
    assert not loop.is_alive()


def test_every_thread_that_lives_as_long_as_its_process_is_such_a_loop() -> None:
    """Other threads do one thing, or end with their work."""
    allowed = {
        "proofroom/core/observability/background_loop.py",
        "proofroom/core/observability/health_checks.py",  # one question
        "proofroom/core/http_client/connection.py",  # one name
        "proofroom/core/diagnostics/local_route.py",  # the end of one answer
        "proofroom/core/process_runner.py",  # the output of one program
        "proofroom/webhooks/http_calls.py",  # the calls of one round of deliveries
        "agents_app/providers/connection.py",  # the talk of one run
    }
    apps = ("agents_app", "analytics", "cms_project", "content", "forms", "mcp_bridge", "media")
    found = {
        str(path.relative_to(ROOT))
        for app in (*apps, "proofroom", "proofroom_apps", "seo")
        for path in (ROOT / app).rglob("*.py")
        if "Thread(" in path.read_text("utf-8").replace("CallThread(", "")
    }
    assert found == allowed
    with pytest.raises(ValueError, match="LOOPS"):
        BackgroundLoop("another", lambda: False)
    assert sorted(LOOPS) == [*LOOPS]


@pytest.fixture
def many_open_files() -> Iterator[None]:
    """Open more files than `select` supports."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 3000:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (3000, hard))
    opened = [socket.socket() for _ in range(1100)]
    yield
    for one in opened:
        one.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite notifies of nothing")
def test_a_process_with_more_than_1024_open_files_hears_notifications(
    many_open_files: None,
) -> None:
    from proofroom.core.database_notifications import listen, notify, stop_listening

    stop_listening()
    heard, begun = threading.Event(), threading.Event()
    subscription = listen("many_files", lambda payload: heard.set(), lost=begun.set)
    try:
        assert begun.wait(20)
        for _ in range(10):
            notify("many_files", "x")
            if heard.wait(2):
                break
        assert heard.is_set()
    finally:
        subscription.close()
        stop_listening()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connections to watch")
def test_a_connection_that_was_closed_meanwhile_does_not_end_the_watch() -> None:
    connection.ensure_connection()
    watched = connection.connection
    watch = AnswerWatch()
    watch._connections.add(watched)
    connection.close()
    watched.close()
    watched.asked_at, watched.answer_seconds = 0.0, 0.1
    watched.pool = None  # which would leave the server alone

    watch.look()

    assert watched.asked_at is None
