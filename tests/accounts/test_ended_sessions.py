"""An ended session is over for the next request, whatever ran while it ended."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest
from django.conf import settings
from django.db import connection, connections, transaction

from proofroom.accounts.services.sessions import end_sessions
from proofroom.core.actor import Actor
from tests import make
from tests.api_client import ApiClient

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("one_window")]


def logged_in() -> tuple[ApiClient, str]:
    """Return a client with a new session of the editor, and the session's key."""
    client = ApiClient()
    body = {"email": make.user("editor").email, "password": make.PASSWORD}
    cookies = client.send("POST", "/api/auth/login", body).cookies
    return client, cookies["sessionid"].value


def end_all_but(kept: str) -> int:
    return end_sessions(actor=Actor(user=make.user("editor"), via="api"), keep=kept)


def stored(key: str) -> list[str]:
    """Return what a request on another connection finds in the session."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    try:
        return [*store(key).keys()]
    finally:
        connections.close_all()


def test_all_but_the_kept_session_end_at_once() -> None:
    (here, kept), (elsewhere, _) = logged_in(), logged_in()
    for client in (here, elsewhere):
        client.read("/api/auth/me")

    assert end_all_but(kept) == 1

    here.read("/api/auth/me")
    elsewhere.read("/api/auth/me", expect=401)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's tests have one connection")
def test_a_request_before_the_commit_does_not_bring_a_session_back() -> None:
    """It still reads the session, and a store that caches would cache it again."""
    (_, kept), (elsewhere, ended) = logged_in(), logged_in()

    with transaction.atomic(), ThreadPoolExecutor(1) as thread:
        assert end_all_but(kept) == 1
        assert thread.submit(stored, ended).result(timeout=60)

    assert stored(ended) == []
    elsewhere.read("/api/auth/me", expect=401)
