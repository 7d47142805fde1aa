"""The end of the application's log: complete records, newest first, without secrets and personal data."""

from __future__ import annotations

import logging
import logging.handlers
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cms_project.logs import RedactingFormatter
from proofroom.core.diagnostics import server_log
from proofroom.core.diagnostics.log_format import FORMAT
from proofroom.core.diagnostics.server_log import read_log
from proofroom.core.errors import NotAllowed
from tests import make
from tests.diagnostics.asking import refusal, told

pytestmark = pytest.mark.django_db
Write = Callable[..., None]


@pytest.fixture
def file(settings: Any, tmp_path: Path) -> Path:
    path = tmp_path / "cms.log"
    settings.LOGGING = {"handlers": {"file": {"filename": path}}}
    return path


@pytest.fixture
def log(file: Path) -> logging.Logger:
    """Write like every process of the site."""
    logger = logging.Logger("shop.orders")
    handler = logging.handlers.WatchedFileHandler(file, encoding="utf-8")
    handler.setFormatter(RedactingFormatter(FORMAT))
    logger.addHandler(handler)
    return logger


def texts(**arguments: Any) -> list[str]:
    return [item["text"] for item in told("read_server_logs", **arguments)["items"]]


def test_the_newest_records_come_first(log: logging.Logger) -> None:
    for number in range(5):
        log.info("number %s", number)
    log.warning("careful")

    found = told("read_server_logs", lines=3)

    assert [item["text"] for item in found["items"]] == ["careful", "number 4", "number 3"]
    assert found["total"] == 6
    assert {**found["items"][0], "at": ""} == {
        "at": "", "level": "warning", "logger": "shop.orders", "text": "careful",
    }  # fmt: skip


def test_a_level_is_the_least_serious(log: logging.Logger) -> None:
    for level in ("debug", "info", "warning", "error", "critical"):
        log.log(logging.getLevelNamesMapping()[level.upper()], level)

    assert texts(level="error") == ["critical", "error"]
    assert texts(level="critical") == ["critical"]
    assert len(texts()) == 5


def test_a_traceback_stays_whole(log: logging.Logger) -> None:
    log.info("before")
    try:
        raise ValueError("first line\nsecond line")
    except ValueError:
        log.exception("failed")
    log.info("after")

    _, failed = texts(lines=2)

    assert failed.startswith("failed\nTraceback (most recent call last):\n")
    assert failed.endswith("ValueError: first line\nsecond line")


def test_words_of_visitors_do_not_pass_for_records(log: logging.Logger) -> None:
    log.warning("asked for x\n2026-01-01 00:00:00,000 CRITICAL root the site is lost")

    assert texts() == [
        "asked for x\n 2026-01-01 00:00:00,000 CRITICAL root the site is lost",
    ]
    assert texts(level="critical") == []


def test_secrets_and_people_are_hidden_again(file: Path, settings: Any) -> None:
    """Records of an older version, or of another program."""
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"agent_secret": "canary-agent"})
    make.webhook(secret="canary-hook")
    file.write_text(
        "2026-11-22 10:00:00,000 ERROR a.b canary-agent canary-hook cms_" + "k3" * 22 + " from "
        "203.0.113.9 by ann@example.com cmsmcp_"
        + "k3" * 22
        + " sessionid="
        + "a1" * 16
        + " sk-"
        + "k3" * 9
        + "\n"
    )

    assert texts() == [
        "[hidden] [hidden] [hidden] from [address] by [address] [hidden] sessionid=[hidden] [hidden]"
    ]


def test_only_the_end_is_read_from_its_first_whole_record(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_log, "READ_BYTES", 200)
    lines = [f"2026-11-22 10:00:0{n},000 INFO a.b number {n} {'x' * 40}" for n in range(9)]
    file.write_text("\n".join(lines) + "\n")

    assert [text[:8] for text in texts()] == ["number 8", "number 7"]


def test_what_is_very_long_is_shortened(log: logging.Logger) -> None:
    log.error("begin %s end", "x" * 100_000)

    (text,) = texts()

    assert text.startswith("begin x")
    assert text.endswith("x end")
    assert "\n… 92,010 characters …\n" in text


def test_an_answer_has_an_end(log: logging.Logger) -> None:
    for _ in range(20):
        log.error("x" * 7_000)

    assert len(texts(lines=500)) == 8


@pytest.mark.parametrize("content", [None, b"", b"no record\n", b"\xff\xfe\x00" * 99])
def test_a_file_without_records_answers_none(file: Path, content: bytes | None) -> None:
    if content is not None:
        file.write_bytes(content)

    assert told("read_server_logs") == {"items": [], "total": 0}


@pytest.mark.parametrize(
    "arguments",
    [
        {"lines": 0},
        {"lines": 501},
        {"lines": True},
        {"lines": 2**70},
        {"level": "ERROR\n"},
        {"level": None, "file": "/etc/passwd"},
    ],
    ids=str,
)
def test_other_arguments_are_refused(arguments: dict[str, Any]) -> None:
    assert refusal("read_server_logs", **arguments)[0] == "invalid_arguments"


def test_only_who_was_granted_it_reads() -> None:
    with pytest.raises(NotAllowed):
        read_log(actor=make.actor("editor"))
