"""A message that cannot be queued is logged once, and reported until one is queued again."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from celery import Celery
from django.db import transaction
from django.utils import timezone

from cms_project.system_health import lights
from proofroom.core.diagnostics.doctor import CheckResult, examine, messages
from proofroom.core.models import QueueFailure
from proofroom.core.task_queue import QueueWatch, send_after_commit

pytestmark = pytest.mark.django_db(transaction=True)
WELL = CheckResult("ok", "messages to workers", "none is known to have failed")


@pytest.fixture
def send() -> Iterator[Callable[[], object]]:
    """Sends a message to a Redis that is not running."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        # Not the current one: tests after these ask their own workers.
        app = Celery(
            "nowhere",
            broker=f"redis://somebody:known-secret@127.0.0.1:{port}/0",
            set_as_current=False,
        )
        app.conf.task_publish_retry_policy = {"max_retries": 0}
        yield lambda: app.send_task("core.tasks.sweep_events")


@pytest.fixture
def without_packaging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate an environment without the transport's imports."""
    for name in ("packaging", "packaging.version"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("kombu.transport._transport_cache", {})
    for name in [name for name in sys.modules if name.startswith("kombu.transport.redis")]:
        monkeypatch.delitem(sys.modules, name)


def enqueue(send: Callable[[], object], times: int = 1) -> None:
    for number in range(times):
        with transaction.atomic():
            send_after_commit(send, f"event {number}")


def test_a_failure_is_logged_once_and_kept_until_a_message_is_queued(
    send: Callable[[], object], caplog: pytest.LogCaptureFixture
) -> None:
    enqueue(send, 3)

    said = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.name for record in said] == ["proofroom.core.task_queue"]
    assert "cannot queue event 0 (Error 111 connecting to" in said[0].getMessage()
    kept = QueueFailure.objects.get()
    assert (kept.error, kept.text.startswith("Error 111 connecting to")) == (
        "OperationalError",
        True,
    )
    (finding,) = messages()
    assert (finding.level, finding.advice) == (
        "fail",
        "check REDIS_URL and whether the server is running",
    )
    assert kept.text in finding.found

    enqueue(lambda: None)

    assert list(messages()) == [WELL]
    enqueue(send)
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == 2


@pytest.mark.usefixtures("without_packaging")
def test_what_is_not_installed_is_named_where_people_look(send: Callable[[], object]) -> None:
    enqueue(send)

    advice = "install requirements.lock where the project runs, and restart it"
    light = next(light for light in lights() if light.label == "Task queue")
    assert light.level == "fail"
    assert "packaging" in light.found
    assert light.advice == advice


def test_the_doctor_names_a_missing_package_and_not_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> Iterator[CheckResult]:
        try:
            raise AttributeError
        except AttributeError:
            raise ModuleNotFoundError("No module named 'packaging'") from None
        yield

    monkeypatch.setattr(
        "proofroom.core.diagnostics.doctor.CHECKS", (("queue", broken, "check REDIS_URL"),)
    )

    assert next(examine()) == CheckResult(
        "fail",
        "queue",
        "does not work: No module named 'packaging'",
        "install requirements.lock where the project runs, and restart it",
    )


def test_a_process_that_queues_forgets_what_ended_before_it(send: Callable[[], object]) -> None:
    before = QueueWatch()
    before.failed("an event", ConnectionError("gone"))
    begun = QueueWatch(started_at=timezone.now())

    begun.worked()

    assert list(messages()) == [WELL]
    before.failed("an event", ConnectionError("gone"))  # kept a moment ago
    assert list(messages()) == [WELL]


def test_an_old_failure_is_a_warning_and_then_forgotten() -> None:
    QueueWatch().failed("an event", ConnectionError("gone"))
    QueueFailure.objects.update(failed_at=timezone.now() - timedelta(hours=1))
    assert [finding.level for finding in messages()] == ["warn"]

    QueueFailure.objects.update(failed_at=timezone.now() - timedelta(hours=25))
    assert list(messages()) == [WELL]


def test_a_password_in_what_the_library_says_is_hidden() -> None:
    QueueWatch().failed("an event", ConnectionError("redis://me:known-secret@host said no"))

    assert "known-secret" not in QueueFailure.objects.get().text
