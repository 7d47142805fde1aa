"""Successful reads are logged in batches, and none is lost by a stopping server."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError

from mcp_bridge.access.principals import Principal
from mcp_bridge.models import McpCall
from mcp_bridge.protocol import call_batches
from mcp_bridge.protocol.call_batches import CallBatches
from mcp_bridge.protocol.tool_calls import answer_call
from mcp_bridge.worker_threads import Workers
from proofroom.accounts.models import User
from tests import make
from tests.mcp.inside import Inside, inside, newest

pytestmark = pytest.mark.django_db


@pytest.fixture
def batches() -> CallBatches:
    return CallBatches(Workers())


def call(batches: CallBatches, tool: str, user: User, **arguments: Any) -> None:
    principal = Principal(id="client:x", user_id=user.pk, role=user.role)
    answer_call(principal, tool, arguments, batches=batches)


def test_reads_are_written_together_in_one_statement(
    batches: CallBatches, django_assert_num_queries: Callable[..., Any]
) -> None:
    editor = make.user("editor")
    call(batches, "list_taxonomies", editor)
    call(batches, "list_posts", editor, limit=1)
    assert not McpCall.objects.exists()

    with django_assert_num_queries(1):
        batches.write()

    rows = list(McpCall.objects.order_by("pk").values_list("tool", "user_id", "ok", "principal"))
    assert rows == [
        ("list_taxonomies", editor.pk, True, "client:x"),
        ("list_posts", editor.pk, True, "client:x"),
    ]
    batches.write()
    assert McpCall.objects.count() == 2


def test_what_was_refused_or_does_more_is_written_before_its_answer(
    batches: CallBatches, samples: None
) -> None:
    editor = make.user("editor")
    call(batches, "list_taxonomies", editor, limit=0)
    call(batches, "sample_conflict", editor)

    assert set(McpCall.objects.values_list("tool", "ok")) == {
        ("list_taxonomies", False),
        ("sample_conflict", False),
    }


def test_the_call_that_fills_what_may_wait_writes_it(
    batches: CallBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_batches, "MAX_WAITING", 2)
    editor = make.user("editor")
    counts = []
    for _ in range(3):
        call(batches, "list_taxonomies", editor)
        counts.append(McpCall.objects.count())

    assert counts == [0, 2, 2]


@pytest.mark.django_db(transaction=True)
def test_an_account_that_is_deleted_meanwhile_takes_no_row_of_others_with_it(
    batches: CallBatches,
) -> None:
    gone, editor = make.user("admin"), make.user("editor")
    for user in (gone, editor):
        call(batches, "list_taxonomies", user)
    User.objects.filter(pk=gone.pk).delete()
    batches.write()

    assert list(McpCall.objects.order_by("pk").values_list("user_id", flat=True)) == [
        None,
        editor.pk,
    ]


def test_rows_that_cannot_be_written_are_named_in_the_log_and_end_nothing(
    batches: CallBatches, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(rows: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(call_batches, "insert_rows", fail)
    call(batches, "list_taxonomies", make.user("editor"))
    with caplog.at_level(logging.ERROR, "mcp_bridge"):
        batches.write()

    assert "cannot log 1 calls" in caplog.text


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_rows_wait_while_the_database_is_away(
    batches: CallBatches,
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(rows: object) -> None:
        raise error("server closed the connection unexpectedly")

    editor = make.user("editor")
    with monkeypatch.context() as away, caplog.at_level(logging.ERROR, "mcp_bridge"):
        away.setattr(call_batches, "insert_rows", fail)
        away.setattr(call_batches, "MAX_WAITING", 3)
        for limit in (1, 2):
            call(batches, "list_posts", editor, limit=limit)
        assert not batches.write()
        assert not caplog.records
        call(batches, "list_taxonomies", editor)  # the third writes, too
        call(batches, "list_agents", editor)
        assert "cannot log 1 calls" in caplog.text

    assert batches.write()
    tools = McpCall.objects.order_by("pk").values_list("tool", flat=True)
    assert [*tools] == ["list_posts", "list_taxonomies", "list_agents"]


def test_a_server_that_stops_writes_what_waits(
    agent: User, environment: Callable[..., None], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    monkeypatch.setattr(call_batches, "WRITE_SECONDS", 3600)

    async def scene(server: Inside) -> None:
        request = newest("tools/call", "list_taxonomies", arguments={})
        assert (await server.ask(**request)).status == 200

    inside(scene)
    assert McpCall.objects.get().tool == "list_taxonomies"


def test_a_server_writes_what_waits_a_moment_later(
    agent: User, environment: Callable[..., None], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    monkeypatch.setattr(call_batches, "WRITE_SECONDS", 0)

    async def scene(server: Inside) -> None:
        request = newest("tools/call", "list_taxonomies", arguments={})
        for number in (1, 2):
            assert (await server.ask(**request)).status == 200
            with anyio.fail_after(10):
                while await sync_to_async(McpCall.objects.count)() < number:
                    await anyio.sleep(0)

    inside(scene)
