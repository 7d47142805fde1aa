"""A server's cache of credentials and calls: short-lived, and cleared by a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from mcp_bridge.access import server_access
from mcp_bridge.access.principals import Principal
from mcp_bridge.access.server_access import CHANNEL, ServerAccess
from mcp_bridge.access.tokens import create_token, revoke_token
from mcp_bridge.models import McpCall
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.models import User
from proofroom.accounts.services.users import change_user
from proofroom.core.database_notifications import Subscription
from proofroom.core.models import Event
from tests import make
from tests.mcp.inside import Inside, bearer, inside, newest

pytestmark = pytest.mark.django_db
LOOKED: Any = object()


def test_an_answer_is_believed_for_its_time_and_no_longer() -> None:
    access = ServerAccess()
    access.known.keep("long", LOOKED, 60)
    access.known.keep("over", LOOKED, 0)

    assert (access.known.find("long"), access.known.find("over")) == (LOOKED, None)


def test_what_is_forgotten_while_it_is_read_is_not_kept() -> None:
    access = ServerAccess()
    known = access.known
    access.forget()
    known.keep("key", LOOKED, 60)

    assert access.known.find("key") is None


def test_calls_that_read_ask_after_their_account_once_until_it_changes(
    samples: None, django_assert_num_queries: Callable[..., Any]
) -> None:
    editor, access = make.user("editor"), ServerAccess()
    principal = Principal(id="client:x", user_id=editor.pk, role="editor")
    call_tool(principal, "list_taxonomies", {}, access=access)

    with django_assert_num_queries(1):  # the row of the log
        assert not call_tool(principal, "list_taxonomies", {}, access=access).is_error
    User.objects.filter(pk=editor.pk).update(is_active=False)
    staged = call_tool(principal, "sample_conflict", {}, access=access)
    access.forget()
    read = call_tool(principal, "list_taxonomies", {}, access=access)

    # Writing tools read the account again, despite the cache.
    for refused in (staged, read):
        assert refused.meta is not None
        assert refused.meta["cms/error"]["code"] == "no_account"


def test_a_read_leaves_one_row_and_what_does_more_or_is_refused_an_entry_too(
    samples: None,
) -> None:
    principal = Principal(id="t", user_id=make.user("editor").pk, diagnostics=True)

    def left(tool: str, **arguments: Any) -> tuple[int, int]:
        calls, entries = McpCall.objects.count(), Event.objects.count()
        call_tool(principal, tool, arguments)
        return McpCall.objects.count() - calls, Event.objects.count() - entries

    assert left("list_taxonomies") == (1, 0)
    assert left("list_taxonomies", limit=0) == (1, 1)
    assert left("sample_conflict") == (1, 1)
    assert left("sample_steps", steps=1, writes=False) == (1, 1)
    assert left("sample_diagnose") == (1, 1)


@pytest.mark.parametrize("change", ["revoked", "switched off"])
def test_threat_43_a_notified_change_ends_a_token_at_its_next_call(
    change: str, samples: None, environment: Callable[..., None], settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    settings.MCP_DB_EXECUTOR = "sensitive"
    told: list[str] = []
    listening: dict[str, Callable[[str], None]] = {}

    def listen(channel: str, receive: Callable[[str], None], **_: Any) -> Subscription:
        listening[channel] = receive
        return Subscription(channel, receive, lambda: None)

    # Like PostgreSQL after the commit; SQLite sends no notifications.
    monkeypatch.setattr(server_access, "listen", listen)
    monkeypatch.setattr(server_access, "notify", told.append)
    token, secret = create_token(
        name="A client", user_id=make.user("editor").pk, actor=make.actor("admin")
    )

    def end() -> None:
        if change == "revoked":
            revoke_token(token_id=token.pk, actor=make.actor("admin"))
        else:
            change_user(user_id=token.user_id, is_active=False, actor=make.actor("admin"))

    async def scene(server: Inside) -> None:
        request = newest("tools/call", "list_taxonomies", arguments={})
        request["headers"] |= bearer(secret)
        assert (await server.ask(**request)).status == 200
        await sync_to_async(end, thread_sensitive=True)()
        assert told == [CHANNEL]
        listening[CHANNEL]("")
        assert (await server.ask(**request)).status == 401

    inside(scene)
