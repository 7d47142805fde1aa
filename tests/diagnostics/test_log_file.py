"""The log goes to the terminal; errors of the log file do not affect requests."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from cms_project.env import Environment
from cms_project.logs import LogFileHandler, log_file, logging_settings, terminal_stream
from proofroom.core.minute_throttle import MinuteTimer
from proofroom.core.task_queue import send_after_commit
from tests import make
from tests.api_client import ApiClient
from tests.diagnostics.asking import told

FULL = Path("/dev/full")


class Broken(logging.Handler):
    """Raises for every record, like a badly written handler."""

    def emit(self, record: logging.LogRecord) -> None:
        raise OSError("no space left on device")


def full_disk(folder: Path) -> LogFileHandler:
    """Return a handler with unwritten records whose file was rotated."""
    path = folder / "cms.log"
    path.symlink_to(FULL)
    handler = LogFileHandler(path, encoding="utf-8", delay=True)
    handler.emit(logging.makeLogRecord({"msg": "first", "levelno": logging.ERROR}))
    path.unlink()
    path.symlink_to("/dev/null")
    return handler


def no_folder(folder: Path) -> LogFileHandler:
    """Return a handler whose folder cannot be created."""
    (folder / "logs").write_text("a file in its place")
    return LogFileHandler(folder / "logs/cms.log", encoding="utf-8", delay=True)


@pytest.fixture(params=[full_disk, no_folder], ids=lambda make: make.__name__)
def broken_file(request: Any, tmp_path: Path) -> Iterator[None]:
    handler = request.param(tmp_path)
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)


@pytest.mark.django_db
@pytest.mark.usefixtures("broken_file")
def test_what_is_not_there_stays_404(client: Any) -> None:
    assert client.get("/nothing").status_code == 404
    assert client.get("/api/nothing").status_code == 404
    logging.getLogger("django.request").error("and the next record too")


def test_the_terminal_is_warned_once_a_minute(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LogFileHandler, "_failure_report", MinuteTimer())
    handler = no_folder(tmp_path)

    for number in range(5):
        handler.handle(logging.makeLogRecord({"msg": f"record {number}"}))

    said = capfd.readouterr().err
    assert said.count("cannot be written") == 1
    assert "Traceback" not in said


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("broken_file")
def test_what_was_approved_stays_approved_where_queue_and_log_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    post = make.post("Before")
    admin = ApiClient("admin")
    admin.write("PUT", f"/api/posts/{post.pk}/review", {"title": "After"})
    digest = admin.read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]

    def refuse(*args: Any, **given: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr("celery.app.task.Task.apply_async", refuse)
    broken = Broken()
    logging.getLogger("proofroom.core.task_queue").addHandler(broken)
    try:
        admin.write("POST", f"/api/posts/{post.pk}/review/approve", {"digest": digest})
    finally:
        logging.getLogger("proofroom.core.task_queue").removeHandler(broken)

    post.refresh_from_db()
    assert post.title == "After"


@pytest.mark.django_db(transaction=True)
def test_a_message_asked_for_twice_is_sent_once() -> None:
    sent: list[str] = []
    with transaction.atomic():
        for what in ("run 1", "run 1", "run 2"):
            send_after_commit(partial(sent.append, what), what, once=True)

    assert sent == ["run 1", "run 2"]


def test_a_file_is_written_only_where_it_is_asked_for(tmp_path: Path) -> None:
    embedded = tmp_path / "logs/cms.log"

    assert log_file(None, embedded=embedded) == embedded
    assert log_file(None, embedded=None) is None
    assert log_file("off", embedded=embedded) is None
    assert log_file(tmp_path / "own.log", embedded=None) == tmp_path / "own.log"
    assert Environment(cms_log_file="off").cms_log_file == "off"
    assert Environment(cms_log_file="/var/log/own.log").cms_log_file == Path("/var/log/own.log")
    without = logging_settings(file=None, stream="ext://sys.stdout", secrets=[], level="INFO")
    assert [*without["handlers"]] == without["root"]["handlers"] == ["terminal"]


@pytest.mark.parametrize(
    ("command", "stream"),
    [
        ("granian --interface wsgi cms_project.wsgi:application", "ext://sys.stdout"),
        ("celery -A cms_project worker", "ext://sys.stdout"),
        ("manage.py run_mcp --port 8787", "ext://sys.stdout"),
        ("manage.py run_mcp --transport stdio", "ext://sys.stderr"),
        ("/srv/manage.py spectacular", "ext://sys.stderr"),
    ],
)
def test_servers_log_to_stdout_and_commands_beside_it(command: str, stream: str) -> None:
    assert terminal_stream(command.split()) == stream


@pytest.mark.django_db
def test_the_tool_says_where_the_log_is_where_there_is_no_file(settings: Any) -> None:
    settings.LOGGING = {"handlers": {"terminal": {}}}

    answer = told("read_server_logs")

    assert (answer["items"], answer["total"]) == ([], 0)
    assert "standard output" in answer["note"]
    assert "CMS_LOG_FILE" in answer["note"]
