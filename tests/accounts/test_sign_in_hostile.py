"""Attacks on logins: without a second factor, with broken credentials, with old invitations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.core.cache import cache
from django.test import Client

from proofroom.accounts.models import User
from proofroom.accounts.services.invitations import create_invitation
from proofroom.accounts.services.users import change_user
from proofroom.core.actor import Actor
from tests import make
from tests.core.sockets import asked, in_a_loop

pytestmark = pytest.mark.django_db
USERS = "/admin/proofroom_accounts/user/"


@pytest.fixture(autouse=True)
def fresh() -> None:
    cache.clear()


def logged_in(role: str = "editor") -> Client:
    browser = Client()
    make.user(role)
    body = {"username": f"{role}@example.com", "password": make.PASSWORD}
    assert browser.post("/admin/login/", body).status_code == 302
    return browser


def test_a_header_of_a_token_opens_no_page_to_who_lacks_the_second_factor(settings: Any) -> None:
    settings.TWO_FACTOR_ROLES = frozenset({"admin"})
    browser = logged_in("admin")
    headers = {"Authorization": "Bearer x"}
    added = {
        "username": "two",
        "email": "two@example.com",
        "role": "admin",
        "password": "a-long-new-phrase",
    }

    assert browser.get(USERS, headers=headers).status_code == 302
    browser.post(f"{USERS}add/", added, headers=headers)

    assert not User.objects.filter(username="two").exists()
    assert browser.get("/api/posts", headers=headers).status_code == 401


@in_a_loop
async def test_a_websocket_asks_for_the_second_factor_too(settings: Any) -> None:
    settings.TWO_FACTOR_ROLES = frozenset({"editor"})
    browser = await sync_to_async(logged_in)()
    page = asked(session=browser.cookies[django_settings.SESSION_COOKIE_NAME].value)

    code = await page.connect()
    await page.leave()

    assert code == 4401


@pytest.mark.parametrize("change", [{"role": "translator"}, {"is_active": False}])
def test_an_invitation_ends_with_the_rights_of_who_invited(change: dict[str, Any]) -> None:
    inviter = make.actor("admin", via="admin")
    _invitation, secret = create_invitation(email="new@example.com", role="admin", actor=inviter)
    other = Actor(user=make.user("admin", "second"), via="admin")
    change_user(user_id=inviter.user.pk, actor=other, **change)

    body = {"username": "new", "password": "a-long-new-phrase"}
    answer = Client().post(f"/admin/login/invitation/{secret}/", body)

    assert answer.status_code == 404
    assert not User.objects.filter(email="new@example.com").exists()


@pytest.mark.parametrize(
    "credential",
    [
        '{"id": "x"}',
        "[" * 100_000,
        "9" * 10_000,
        json.dumps({"id": "eA", "rawId": "eA", "type": "public-key", "clientExtensionResults": 5}),
    ],
)
@pytest.mark.parametrize("path", ["/admin/login/passkey/", "/admin/login/code/"])
def test_a_credential_that_no_browser_sends_is_refused(path: str, credential: str) -> None:
    make.user("editor")
    browser = Client()
    browser.get("/admin/login/passkey/", headers={"Accept": "application/json"})

    answer = browser.post(path, {"credential": credential})

    assert 300 <= answer.status_code < 500
    assert "_auth_user_id" not in browser.session


@pytest.mark.usefixtures("one_window")
def test_old_passwords_are_not_guessed_without_end() -> None:
    browser = Client()
    browser.force_login(make.user("editor"))
    new = {"new_password1": "a-long-new-phrase", "new_password2": "a-long-new-phrase"}

    for number in range(10):
        browser.post("/admin/password_change/", {"old_password": f"wrong-{number}", **new})
    answer = browser.post("/admin/password_change/", {"old_password": make.PASSWORD, **new})

    page = answer.content.decode()
    assert answer.status_code == 429
    assert User.objects.get(email="editor@example.com").check_password(make.PASSWORD)
    wait = int(answer["Retry-After"])
    assert f"Your password was not changed. Try again in {wait} second" in page
    # The submitted form, empty, and not the login page.
    assert 'name="old_password"' in page
    assert 'name="username"' not in page
    assert "a-long-new-phrase" not in page
    assert make.PASSWORD not in page


def test_too_many_letters_are_refused_on_a_page_of_the_product() -> None:
    make.user("editor")
    browser = Client()
    asked = {"email": "editor@example.com"}

    for _number in range(5):
        assert browser.post("/admin/login/forgot/", asked).status_code == 302
    answer = browser.post(
        "/admin/login/forgot/", asked, headers={"Accept-Language": "de", "Accept": "text/html"}
    )

    assert (answer.status_code, answer["Retry-After"]) == (429, "60")
    page = answer.content.decode()
    assert "Zu viele Versuche" in page
    assert "components.css" in page


def test_a_session_that_is_none_ends_no_other_one() -> None:
    browser, _other = logged_in(), logged_in()
    before = UserSession.objects.count()

    assert browser.post("/admin/account/sessions/", {"session": "abc"}).status_code == 404
    assert UserSession.objects.count() == before
