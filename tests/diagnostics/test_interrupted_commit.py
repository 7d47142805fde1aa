"""After an unconfirmed commit no interface claims that nothing was changed."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.test import RequestFactory

from cms_project.errors import unavailable
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.models import User
from proofroom.core.api.exceptions import handle
from proofroom.core.database.errors import (
    OUTCOME_UNKNOWN_MESSAGE,
    UNAVAILABLE_MESSAGE,
    CommitInterrupted,
    describe_outage,
    is_database_unreachable,
)
from tests import make


def lost(kind: type[OperationalError]) -> OperationalError:
    try:
        raise kind("lost") from psycopg.OperationalError("server closed the connection")
    except OperationalError as error:
        return error


@pytest.mark.parametrize(
    ("kind", "code", "message", "retry_after"),
    [
        (CommitInterrupted, "outcome_unknown", OUTCOME_UNKNOWN_MESSAGE, None),
        (OperationalError, "unavailable", UNAVAILABLE_MESSAGE, "5"),
    ],
)
@pytest.mark.parametrize("path", ["/api/posts", "/admin/", "/"])
def test_an_interrupted_commit_asks_to_look_before_it_is_repeated(
    kind: type[OperationalError], code: str, message: str, retry_after: str | None, path: str
) -> None:
    error = lost(kind)

    page = unavailable(RequestFactory().post(path), error)

    assert (page.status_code, page.get("Retry-After")) == (503, retry_after)
    text = page.content.decode()
    assert ("may have been done" in text) is (kind is CommitInterrupted)
    assert ("Nothing was changed" in text) is (kind is not CommitInterrupted)
    answer: Any = handle(error, {})
    assert (answer.status_code, answer.get("Retry-After")) == (503, retry_after)
    assert answer.data == {"error": message, "code": code, "details": {}}


@pytest.mark.django_db
def test_a_tool_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    user = make.user("admin")

    def interrupted(*_args: Any, **_named: Any) -> None:
        raise lost(CommitInterrupted)

    monkeypatch.setattr("mcp_bridge.protocol.tool_calls._run_tool", interrupted)

    result: Any = call_tool(Principal(id="walk", user_id=user.pk), "list_posts", {})

    assert OUTCOME_UNKNOWN_MESSAGE in result.content[0].text


def end_connection() -> None:
    """End this thread's connection from the server's side, like a restart."""
    info = connection.connection.info
    with psycopg.connect(
        host=info.host, port=info.port, user=info.user, dbname=info.dbname, autocommit=True
    ) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [info.backend_pid])


@transaction.atomic
def write(user: User, *, ends: str) -> None:
    """Change a user; the connection ends `before` or `after` the commit."""
    User.objects.count()
    if ends == "before":
        end_connection()
    user.username = "renamed"
    user.save()
    if ends == "after":
        end_connection()


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("ends", "code"), [("after", "outcome_unknown"), ("before", "unavailable")]
)
def test_only_a_connection_that_ends_at_the_commit_leaves_the_outcome_unknown(
    ends: str, code: str
) -> None:
    user = make.user("editor")

    with pytest.raises(OperationalError) as raised:
        write(user, ends=ends)

    assert is_database_unreachable(raised.value)
    assert describe_outage(raised.value).code == code
