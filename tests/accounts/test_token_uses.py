"""Only the first use of a token on a day is recorded in the activity log."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from mcp_bridge.access.tokens import create_token, find_holder
from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.services import account_tokens
from proofroom.accounts.services.account_tokens import TokenUse, record_use
from proofroom.core.activity.presenters import present
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from proofroom.oauth.connections import find_connected_client
from proofroom.oauth.models import OAuthConnection
from tests import make
from tests.accounts.bearer import program, token_of
from tests.oauth import flow

NOON = datetime(2027, 3, 4, 12, tzinfo=UTC)
Clock = Callable[[datetime], None]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """`at(moment)`: set the time at which tokens are used."""

    class Timezone:
        moment = NOON

        def now(self) -> datetime:
            return self.moment

    clock = Timezone()
    monkeypatch.setattr(account_tokens, "timezone", clock)

    def turn(moment: datetime) -> None:
        clock.moment = moment

    return turn


def uses() -> list[Event]:
    return list(Event.objects.filter(name="token.used").order_by("pk"))


def statements(call: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as caught:
        call()
    return [query["sql"].split()[0] for query in caught]


@pytest.mark.django_db
def test_the_first_use_of_an_api_token_on_a_day_is_recorded(at: Clock) -> None:
    user = make.user("editor")
    token, secret = token_of(user, "posts.view")
    client = program(secret)
    costs: list[list[str]] = []
    counts = []

    for moment in (
        NOON,
        NOON + timedelta(seconds=30),
        NOON + timedelta(hours=2),
        datetime(2027, 3, 4, 23, 59, 50, tzinfo=UTC),
        # Within a minute of the last one, and on another day.
        datetime(2027, 3, 5, 0, 0, 10, tzinfo=UTC),
        datetime(2027, 3, 5, 8, tzinfo=UTC),
    ):
        at(moment)
        done = statements(lambda: client.read("/api/posts"))
        costs.append(done)
        counts.append((done.count("UPDATE"), len(uses())))

    assert counts == [(1, 1), (0, 1), (1, 1), (1, 1), (1, 2), (1, 2)]
    # A use on the same day costs the same as before: its own row, or nothing.
    assert len(costs[2]) == len(costs[3]) == len(costs[5])
    assert "INSERT" not in costs[1] + costs[2] + costs[3] + costs[5]
    first, second = uses()
    assert first.payload == {
        "id": str(token.pk),
        "kind": "api",
        "name": token.name,
        "userId": user.pk,
        "day": "2027-03-04",
    }
    assert second.payload["day"] == "2027-03-05"
    assert (first.actor_id, first.via, first.credential) == (user.pk, "api", f"token:{token.pk}")
    [entry] = present([first], make.actor("admin"))
    assert entry["sentence"] == f"editor used ‘{token.name}’ for the first time that day"


@pytest.mark.django_db
def test_the_first_use_of_an_mcp_token_on_a_day_is_recorded(at: Clock) -> None:
    user = make.user("editor")
    token, secret = create_token(name="Desktop", user_id=user.pk, actor=make.actor("admin"))

    first = statements(lambda: find_holder(secret))
    again = statements(lambda: find_holder(secret))
    at(NOON + timedelta(minutes=5))
    later = statements(lambda: find_holder(secret))

    [event] = uses()
    assert event.payload == {
        "id": str(token.pk),
        "kind": "mcp",
        "name": "Desktop",
        "userId": user.pk,
        "day": "2027-03-04",
    }
    assert (event.via, event.credential) == ("mcp", f"mcp:client:{token.pk}")
    reads_and_writes = [
        [kind for kind in done if kind in ("SELECT", "UPDATE")] for done in (first, again, later)
    ]
    assert reads_and_writes == [["SELECT", "UPDATE", "SELECT"], ["SELECT"], ["SELECT", "UPDATE"]]


@pytest.mark.django_db
def test_the_first_use_of_a_connected_client_on_a_day_is_recorded(at: Clock) -> None:
    client_id = flow.register()["client_id"]
    answer = flow.answer_of(flow.consent(flow.person(), flow.authorize_url(client_id)))
    token = flow.redeem(client_id, answer["code"]).json()["access_token"]

    for moment in (NOON, NOON + timedelta(hours=1), NOON + timedelta(days=1)):
        at(moment)
        assert find_connected_client(token) is not None

    connected = OAuthConnection.objects.get()
    first, second = uses()
    assert first.payload == {
        "id": str(connected.pk),
        "kind": "oauth",
        "name": "Sample client",
        "userId": connected.user_id,
        "day": "2027-03-04",
    }
    assert second.payload["day"] == "2027-03-05"
    assert first.credential == f"mcp:oauth:{connected.pk}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("last", [None, NOON - timedelta(days=1)])
def test_of_several_first_uses_at_once_one_is_recorded(at: Clock, last: datetime | None) -> None:
    token, _secret = token_of(make.user("editor"), "posts.view")
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=last)
    user = User.objects.get(username="editor")
    use = TokenUse(Actor(user=user, via="api", token_id=str(token.pk)), "api", token.name)
    together = Barrier(4)

    def call(_number: int) -> None:
        together.wait(30)
        record_use(ApiToken, token.pk, last, lambda: use)
        connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, range(4)))

    assert len(uses()) == 1
    assert ApiToken.objects.get(pk=token.pk).last_used_at == NOON


@pytest.mark.django_db
def test_a_first_use_that_another_call_noted_meanwhile_is_recorded_once(at: Clock) -> None:
    """The row was read before the first call after midnight, and its minute has passed at this write."""
    token, _secret = token_of(make.user("editor"), "posts.view")
    read = NOON - timedelta(days=1)
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=NOON - timedelta(minutes=2))

    record_use(ApiToken, token.pk, read, lambda: pytest.fail("nothing is to be said"))

    assert uses() == []
