"""Preferences of accounts: permissions, validation, and reading without an extra statement."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from proofroom.accounts.models import Preferences
from proofroom.accounts.queries import load_user, preferences_of
from proofroom.accounts.services.preferences import change_preferences
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db


def own_actor(role: str = "editor") -> Actor:
    return Actor(user=make.user(role), via="admin")


def test_an_account_without_a_row_has_the_defaults() -> None:
    user = load_user(make.user("editor").pk)
    assert user is not None

    found = preferences_of(user)

    shown = (found.time_zone, found.language, found.theme, found.density, found.has_letter_keys)
    assert shown == ("", "", "auto", "comfortable", True)
    assert not Preferences.objects.exists()


def test_preferences_come_with_the_account_in_one_statement() -> None:
    actor = own_actor()
    change_preferences(actor=actor, theme="dark", time_zone="Asia/Kolkata")

    with CaptureQueriesContext(connection) as asked:
        user = load_user(actor.user.pk)
        assert user is not None
        found = preferences_of(user)

    assert (found.theme, found.time_zone, len(asked)) == ("dark", "Asia/Kolkata", 1)


def test_a_change_keeps_what_is_not_given_and_leaves_one_entry() -> None:
    actor = own_actor()
    change_preferences(actor=actor, time_zone="Europe/Berlin", density="compact")
    before = Event.objects.count()

    change_preferences(actor=actor, language="de", has_letter_keys=False)
    change_preferences(actor=actor, language="de")

    row = Preferences.objects.get()
    assert (row.time_zone, row.density, row.language) == ("Europe/Berlin", "compact", "de")
    assert row.has_letter_keys is False
    event = Event.objects.order_by("pk").last()
    assert event is not None
    assert Event.objects.count() == before + 1
    assert (event.name, event.payload["changed"]) == (
        "user.changed",
        ["has_letter_keys", "language"],
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("time_zone", "Mars/Olympus"),
        ("time_zone", "../../etc/passwd"),
        ("time_zone", "europe/berlin"),
        ("time_zone", "Europe/Berlin\x00"),
        ("language", "xx"),
        ("language", "d" * 500),
        ("theme", ""),
        ("theme", "sepia"),
        ("density", "tiny"),
    ],
)
def test_an_unknown_value_is_refused_at_its_field(name: str, value: str) -> None:
    actor = own_actor()
    wanted: dict[str, Any] = {name: value}

    with pytest.raises(RuleViolation) as caught:
        change_preferences(actor=actor, **wanted)

    assert list(caught.value.details) == [name]
    assert not Preferences.objects.exists()


def test_programs_cannot_change_what_a_person_sees() -> None:
    person = make.user("editor")
    for actor in (
        make.agent_actor(),
        make.mcp_actor(),
        Actor(user=person, via="api", token_id="one"),
    ):
        with pytest.raises(NotAllowed):
            change_preferences(actor=actor, theme="dark")
    assert not Preferences.objects.exists()


def test_preferences_go_with_their_account() -> None:
    actor = own_actor()
    change_preferences(actor=actor, theme="dark")

    make.user("editor").delete()

    assert not Preferences.objects.exists()


def test_the_api_answers_in_utc_and_english_whatever_the_person_chose() -> None:
    actor = own_actor()
    change_preferences(actor=actor, time_zone="Asia/Kolkata", language="de")
    client, post = Client(), make.post()
    client.force_login(make.user("editor"))

    answer = client.get(f"/api/posts/{post.pk}").json()
    missing = client.get("/api/posts/00000000-0000-4000-8000-000000000000").json()

    assert "+05:30" not in str(answer)
    assert re.search(r"'createdAt': '[^']*Z'", str(answer))
    assert "No post" in str(missing)
