"""Adding and changing accounts: permissions, validation, end of sessions."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from proofroom.accounts.models import User
from proofroom.accounts.services.agents import ensure_agent_user
from proofroom.accounts.services.authors import ensure_author
from proofroom.accounts.services.users import change_user, create_user, set_password, username_for
from proofroom.core.errors import CmsError, NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db

PASSWORD = "a-long-enough-one"


def new(**more: Any) -> User:
    given = {"email": " New@Example.com", "username": "new", "role": "editor", "password": PASSWORD}
    return create_user(**{**given, "actor": make.actor("admin", via="admin"), **more})


def change(user: User, **more: Any) -> User:
    return change_user(**{"user_id": user.pk, "actor": make.actor("admin", via="admin"), **more})


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    assert client.get("/api/auth/me").status_code == 200
    return client


def rows() -> list[Any]:
    return list(User.objects.order_by("pk").values())


def test_a_new_person_can_log_in_and_the_log_says_who_made_the_account() -> None:
    user = new()

    assert (user.email, user.username, user.role, user.is_active) == (
        "new@example.com",
        "new",
        "editor",
        True,
    )
    assert Client().login(email="new@example.com", password=PASSWORD)
    event = Event.objects.get(name="user.created")
    assert event.payload == {"id": user.pk, "role": "editor"}
    assert event.actor == make.user("admin")


@pytest.mark.parametrize("role", ["editor", "translator", "ai_agent"])
@pytest.mark.parametrize("via", ["admin", "mcp", "agent"])
def test_only_an_admin_who_is_a_person_manages_accounts(role: str, via: Any) -> None:
    target = make.user("editor", "target")
    make.user("admin")
    actors = [make.actor(role, via=via)]
    if via != "admin":
        actors.append(make.actor("admin", via=via))
    before = rows()

    for actor in actors:
        for attempt in (
            lambda actor=actor: new(actor=actor),
            lambda actor=actor: change(target, role="admin", actor=actor),
            lambda actor=actor: set_password(user_id=target.pk, password=PASSWORD, actor=actor),
        ):
            with pytest.raises(NotAllowed):
                attempt()

    assert rows() == before


def test_what_is_given_changes_and_nothing_else() -> None:
    user = make.user("editor")

    change(user, username="other", email=" Other@Example.com ")

    user.refresh_from_db()
    assert (user.username, user.email) == ("other", "other@example.com")
    assert (user.role, user.is_active) == ("editor", True)
    assert user.check_password(make.PASSWORD)
    assert Event.objects.get(name="user.changed").payload["changed"] == ["email", "username"]


def test_what_stays_as_it_was_is_no_event() -> None:
    user = make.user("editor")

    change(user, username="editor", role="editor", is_active=True)

    assert not Event.objects.filter(name="user.changed").exists()


def test_another_role_ends_every_session_and_another_name_none() -> None:
    user = make.user("editor")
    client = logged_in(user)

    change(user, username="other")
    assert client.get("/api/auth/me").status_code == 200

    change(user, role="translator")
    assert client.get("/api/auth/me").status_code == 401


def test_switching_off_ends_every_session() -> None:
    user = make.user("editor")
    client = logged_in(user)

    change(user, is_active=False)

    assert client.get("/api/auth/me").status_code == 401
    assert not Client().login(email=user.email, password=make.PASSWORD)


def test_another_password_ends_every_session() -> None:
    user = make.user("editor")
    client = logged_in(user)

    set_password(user_id=user.pk, password=PASSWORD, actor=make.actor("admin"))

    assert client.get("/api/auth/me").status_code == 401
    assert Client().login(email=user.email, password=PASSWORD)
    assert not Client().login(email=user.email, password=make.PASSWORD)


def test_a_password_like_the_name_is_refused() -> None:
    user = make.user("editor", "wintergarden")

    with pytest.raises(RuleViolation) as caught:
        set_password(user_id=user.pk, password="wintergarden1", actor=make.actor("admin"))

    assert list(caught.value.details) == ["password"]
    user.refresh_from_db()
    assert user.check_password(make.PASSWORD)


def test_the_last_active_admin_stays_one() -> None:
    admin = make.user("admin")
    User.objects.create_user("off@example.com", PASSWORD, role="admin", is_active=False)
    before = rows()

    with pytest.raises(RuleViolation) as caught:
        change(admin, role="editor")

    assert caught.value.code == "last_admin"
    assert rows() == before


def test_with_two_admins_one_may_go_but_not_both() -> None:
    admin, other = make.user("admin"), make.user("admin", "other")

    change(other, role="editor")
    with pytest.raises(RuleViolation):
        change(admin, role="editor")

    assert User.objects.filter(role="admin").get() == admin


def test_nobody_switches_off_their_own_account() -> None:
    admin = make.user("admin")
    make.user("admin", "other")

    with pytest.raises(RuleViolation) as caught:
        change(admin, is_active=False)

    assert caught.value.code == "own_account"
    admin.refresh_from_db()
    assert admin.is_active


def test_an_agents_account_is_switched_and_never_anything_else() -> None:
    agent = ensure_agent_user(agent_id="seo-specialist")

    for given in ({"role": "admin"}, {"username": "x"}, {"email": "x@example.com"}):
        with pytest.raises(CmsError):
            change(agent, **given)
    with pytest.raises(RuleViolation):
        set_password(user_id=agent.pk, password=PASSWORD, actor=make.actor("admin"))
    change(agent, is_active=False)

    after = User.objects.get(pk=agent.pk)
    assert (after.role, after.username, after.email) == ("ai_agent", agent.username, agent.email)
    assert after.password == agent.password
    assert not after.is_active


def test_an_account_that_is_not_there() -> None:
    with pytest.raises(NotFound):
        change_user(user_id=-1, role="editor", actor=make.actor("admin"))


def test_it_is_what_they_are_called_in_characters_of_usernames() -> None:
    assert username_for("ada@example.com", "Ada Lovelace") == "Ada-Lovelace"
    assert username_for("ada@example.com") == "ada"
    assert username_for("ada@example.com", "!!!") == "ada@example.com"


def test_an_author_whose_name_is_taken_or_holds_others_gets_one_too() -> None:
    make.user("editor", "ada")
    admin = make.actor("admin")

    assert ensure_author(email="ada@example.org", actor=admin).username == "ada@example.org"
    assert ensure_author(email="ada!b@example.org", actor=admin).username == "ada-b"
