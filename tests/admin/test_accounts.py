from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from proofroom.accounts.models import User
from proofroom.accounts.services.agents import ensure_agent_user
from tests import make
from tests.admin.pages import fields

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/proofroom_accounts/user/"


def address(user: User) -> str:
    return f"{LIST}{user.pk}/change/"


def change(client: Client, user: User, **typed: Any) -> Any:
    """Open the page, fill in the form, save."""
    sent = fields(client.get(address(user)), "is_active")
    sent.update({name: value for name, value in typed.items() if value is not None})
    for name, value in typed.items():
        if value is None:
            del sent[name]
    return client.post(address(user), {**sent, "do": "change"})


def test_an_account_is_added(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    typed = {
        "username": "new",
        "email": "new@example.com",
        "role": "translator",
        "password": "a-long-enough-one",
    }

    assert f'href="{LIST}add/"' in client.get(LIST).content.decode()
    assert 'value="ai_agent"' not in client.get(f"{LIST}add/").content.decode()
    answer = client.post(f"{LIST}add/", typed)

    assert answer.status_code == 302
    assert User.objects.get(username="new").role == "translator"
    assert Client().login(email="new@example.com", password="a-long-enough-one")


def test_invalid_values_are_reported_at_their_fields(signed_in: SignedIn) -> None:
    make.user("editor")
    typed = {
        "username": "new",
        "email": "editor@example.com",
        "role": "editor",
        "password": "short",
    }

    answer = signed_in("admin").post(f"{LIST}add/", typed)

    assert answer.status_code == 422
    page = answer.content.decode()
    assert 'id="id_email_error"' in page
    assert 'aria-describedby="id_email_error"' in page
    assert "short" not in page.partition('name="password"')[2].partition(">")[0]
    assert not User.objects.filter(username="new").exists()


def test_an_account_is_changed(signed_in: SignedIn) -> None:
    user = make.user("editor")

    answer = change(signed_in("admin"), user, username="other", role="translator")

    assert answer.status_code == 302
    user.refresh_from_db()
    assert (user.username, user.role, user.is_active) == ("other", "translator", True)


def test_an_account_is_switched_off(signed_in: SignedIn) -> None:
    user = make.user("editor")

    change(signed_in("admin"), user, is_active=None)

    user.refresh_from_db()
    assert not user.is_active


def test_the_last_admin_sees_why_a_change_is_refused(signed_in: SignedIn) -> None:
    admin = make.user("admin")

    answer = change(signed_in("admin"), admin, role="editor")

    assert answer.status_code == 422
    assert "the last active admin" in answer.content.decode()
    admin.refresh_from_db()
    assert admin.role == "admin"


def test_ones_own_new_password_keeps_only_this_session(signed_in: SignedIn) -> None:
    here, elsewhere = signed_in("admin"), signed_in("admin")
    admin = make.user("admin")

    answer = here.post(address(admin), {"do": "password", "password": "a-long-enough-one"})

    assert answer.status_code == 302
    assert here.get(LIST).status_code == 200
    assert elsewhere.get(LIST).status_code == 302


def test_a_bad_password_is_refused(signed_in: SignedIn) -> None:
    user = make.user("editor")

    answer = signed_in("admin").post(address(user), {"do": "password", "password": "short"})

    assert answer.status_code == 422
    assert "too short" in answer.content.decode()
    user.refresh_from_db()
    assert user.check_password(make.PASSWORD)


def test_an_agents_account_has_a_switch_and_nothing_else(signed_in: SignedIn) -> None:
    agent = ensure_agent_user(agent_id="seo-specialist")
    client = signed_in("admin")

    sent = fields(client.get(address(agent)), "is_active")
    assert set(sent) - {"csrfmiddlewaretoken", "stamp"} == {"is_active"}
    assert 'name="password"' not in client.get(address(agent)).content.decode()
    client.post(address(agent), {"do": "change", "role": "admin", "username": "x"})

    agent.refresh_from_db()
    assert (agent.role, agent.username, agent.is_active) == (
        "ai_agent",
        "agent:seo-specialist",
        False,
    )
    assert (
        client.post(address(agent), {"do": "password", "password": "a-long-enough-one"}).status_code
        == 422
    )


@pytest.mark.parametrize("role", ["editor", "translator"])
def test_only_admins_come_in(signed_in: SignedIn, role: str) -> None:
    target = make.user("editor", "target")
    client = signed_in(role)
    before = list(User.objects.order_by("pk").values())

    assert client.get(LIST).status_code == 403
    for path, sent in (
        (
            f"{LIST}add/",
            {
                "username": "x",
                "email": "x@example.com",
                "role": "admin",
                "password": "a-long-enough-one",
            },
        ),
        (
            address(target),
            {"do": "change", "role": "admin", "is_active": "on", "username": "target"},
        ),
        (address(target), {"do": "password", "password": "a-long-enough-one"}),
        (f"{LIST}{target.pk}/delete/", {"post": "yes"}),
    ):
        assert client.post(path, sent).status_code == 403, path

    assert list(User.objects.order_by("pk").values()) == before


@pytest.mark.parametrize("bad", ["0", "999999", "x", "-1", "²", "9" * 30])
def test_an_account_that_is_not_there(signed_in: SignedIn, bad: str) -> None:
    assert signed_in("admin").get(f"{LIST}{bad}/change/").status_code == 404


def test_a_page_that_was_opened_earlier_gives_no_role_back(signed_in: SignedIn) -> None:
    client, user = signed_in("admin"), make.user("admin", "other")
    sent = fields(client.get(address(user)), "role")
    change(client, user, role="translator", is_active=None)

    typed = {**sent, "email": "new@example.com", "do": "change"}
    answer = client.post(address(user), typed)

    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Somebody saved other values since you opened this page." in page
    assert "in: Email, Role, Active." in page
    user.refresh_from_db()
    assert (user.role, user.is_active) == ("translator", False)
    again = {**fields(answer, "role"), "do": "change"}
    assert client.post(address(user), again).status_code == 302
    user.refresh_from_db()
    assert (user.email, user.role, user.is_active) == ("new@example.com", "admin", True)
