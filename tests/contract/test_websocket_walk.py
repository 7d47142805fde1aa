"""Every WebSocket × every role, read from the routing. A new one fails here until it is in the table."""

from __future__ import annotations

import re
from typing import Final

import pytest
from asgiref.sync import sync_to_async

from cms_project.asgi import websockets
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.roles import PERMISSIONS, Role
from tests.core.sockets import asked, in_a_loop, session_of

pytestmark = pytest.mark.django_db

PEOPLE: Final = frozenset({"admin", "editor", "translator"})
EDITORS: Final = frozenset({"admin", "editor"})
WHO: Final = {
    "ws/events/": PEOPLE,
    "ws/runs/<uuid:run_id>/": EDITORS,
    "ws/batches/<uuid:batch_id>/": EDITORS,
}
PERMISSION: Final = {
    str(socket.pattern): socket.callback.consumer_class.permission for socket in websockets
}


def test_every_websocket_is_in_the_table_and_declares_its_permission() -> None:
    assert set(PERMISSION) == set(WHO)
    assert set(PERMISSION.values()) <= PERMISSIONS


@pytest.mark.parametrize("address", sorted(WHO))
def test_the_table_and_the_permission_say_the_same(address: str) -> None:
    held_by = {role for role in Role if PERMISSION[address] in permissions_of(role)}

    assert WHO[address] == held_by - {Role.AI_AGENT}  # programs open no page


@pytest.mark.parametrize("role", [None, *Role])
@pytest.mark.parametrize("address", sorted(WHO))
@in_a_loop
async def test_each_role_is_let_in_where_it_may(address: str, role: str | None) -> None:
    session = await sync_to_async(session_of)(role) if role else ""
    path = "/" + re.sub("<uuid:[^>]+>", "00000000-0000-4000-8000-000000000000", address)
    page = asked(path=path, session=session)

    assert await page.connect() == (0 if role in WHO[address] else 4401)
    await page.leave()
