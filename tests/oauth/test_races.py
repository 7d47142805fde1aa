"""Concurrent use of the same code or refresh token: real transactions, real threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from oauth2_provider.models import AccessToken

from tests.oauth import flow
from tests.oauth.test_hostile import status_of

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
CALLERS = 4


@pytest.fixture(autouse=True)
def fresh(settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    cache.clear()


def at_once(ask: Callable[[], Any]) -> list[Any]:
    """Return the responses to the same request from concurrent threads."""
    gate = threading.Barrier(CALLERS)
    answers: list[Any] = []

    def caller() -> None:
        gate.wait()
        try:
            answers.append(ask())
        finally:
            connection.close()

    threads = [threading.Thread(target=caller) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_refreshes_at_once_all_go_on_and_nothing_is_ended() -> None:
    tokens = flow.connected()

    answers = at_once(lambda: flow.refresh(tokens["client_id"], tokens["refresh_token"]))

    assert [answer.status_code for answer in answers] == [200] * CALLERS
    pairs = [answer.json() for answer in answers]
    assert len({pair["access_token"] for pair in pairs}) == CALLERS
    assert status_of(pairs[-1]["access_token"]) == 200
    again = [flow.refresh(tokens["client_id"], pair["refresh_token"]) for pair in pairs]
    assert [answer.status_code for answer in again] == [200] * CALLERS


def test_a_code_at_once_gives_one_answer_and_then_nothing() -> None:
    client_id = flow.register()["client_id"]
    code = flow.code_of(flow.person(), client_id)

    answers = at_once(lambda: flow.redeem(client_id, code))

    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] + [400] * (CALLERS - 1)
    # A code used twice may be stolen, so its tokens are revoked.
    (won,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert flow.refresh(client_id, won["refresh_token"]).status_code == 400
    assert not AccessToken.objects.exists()
