"""Second factors: codes of apps, recovery codes, obligation and removal."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from proofroom.accounts.models import User
from proofroom.accounts.services.second_factors import remove_second_factors
from proofroom.accounts.services.sessions import end_account_sessions
from proofroom.core.errors import NotAllowed
from tests import make
from tests.accounts.login_steps import (
    SECRET,
    code_now,
    confirm_with_password,
    is_logged_in,
    log_in,
    recorded,
    with_app,
    with_codes,
)
from tests.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]


def test_the_secret_of_an_app_is_encrypted_in_the_database() -> None:
    user = with_app()

    stored = Authenticator.objects.get(user=user).data["secret"]

    assert SECRET not in stored
    assert Authenticator.objects.get(user=user).wrap().validate_code(code_now())


def test_the_admin_asks_for_a_code_and_takes_each_once() -> None:
    with_app()
    client, second = Client(), Client()

    asked = log_in(client)
    before = is_logged_in(client)
    wrong = client.post("/admin/login/code/", {"code": "000000"})
    code = code_now()
    right = client.post("/admin/login/code/", {"code": code})
    log_in(second)
    replayed = second.post("/admin/login/code/", {"code": code})

    assert asked["Location"] == "/admin/login/code/"
    assert not before
    assert wrong.status_code == 422
    assert right["Location"] == "/admin/"
    assert is_logged_in(client)
    assert replayed.status_code == 422
    assert not is_logged_in(second)
    assert len(recorded("user.login-failed")) == 2


def test_the_api_asks_for_a_code() -> None:
    with_app()
    right = {"email": "editor@example.com", "password": make.PASSWORD}

    def answer(**body: str) -> Any:
        return ApiClient().send("POST", "/api/auth/login", {**right, **body})

    codes = with_codes(User.objects.get(username="editor"))
    missing, wrong, wrong_password = (
        answer(),
        answer(code="1"),
        answer(password="x", code=code_now()),
    )
    app, recovery, used = answer(code=code_now()), answer(code=codes[0]), answer(code=codes[0])

    assert [one.status_code for one in (missing, wrong, wrong_password)] == [401] * 3
    assert missing.json()["code"] == "second_factor_required"
    assert wrong_password.json()["code"] == "wrong_credentials"
    assert (app.status_code, recovery.status_code, used.status_code) == (200, 200, 401)
    assert app.json()["username"] == "editor"


def test_guesses_of_a_code_are_limited_over_both_doors() -> None:
    user = with_app()
    codes = with_codes(user)
    client = Client()
    log_in(client)
    for number in range(5):
        client.post("/admin/login/code/", {"code": f"00000{number}"})

    page = client.post("/admin/login/code/", {"code": codes[0]})
    api = ApiClient().send(
        "POST",
        "/api/auth/login",
        {"email": user.email, "password": make.PASSWORD, "code": codes[1]},
        REMOTE_ADDR="10.9.9.9",
    )

    assert page.status_code == 422
    assert api.status_code == 401
    assert not is_logged_in(client)


@pytest.mark.django_db(transaction=True)
def test_users_with_an_authenticator_enter_the_password_first() -> None:
    make.user("editor")
    client = Client()
    log_in(client)
    client.get("/admin/")

    asked = client.get("/admin/account/methods/app/")
    confirm_with_password(client, "/admin/account/methods/app/")
    form = client.get("/admin/account/methods/app/")
    secret = client.session["mfa.totp.secret"]
    code = format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    done = client.post("/admin/account/methods/app/", {"code": code})
    codes = client.get(done["Location"]).content.decode()

    assert asked["Location"].startswith("/admin/account/confirm/")
    assert form.status_code == 200
    assert done["Location"] == "/admin/account/methods/recovery-codes/"
    assert len(re.findall(r"<code>\d{10}</code>", codes)) == 10
    assert secret not in str(Authenticator.objects.get(type="totp").data)
    assert [event.payload["type"] for event in recorded("user.second-factor-added")] == [
        "totp",
        "recovery_codes",
    ]
    assert "Authenticator app added" in [message.subject for message in mail.outbox]


def test_a_role_that_needs_a_second_factor_gets_no_further_without(settings: Any) -> None:
    settings.TWO_FACTOR_ROLES = frozenset({"editor"})
    make.user("editor")
    make.user("translator")
    client, translator = Client(), Client()
    log_in(client)
    log_in(translator, "translator")

    page, api, own = client.get("/admin/"), client.get("/api/posts"), client.get("/admin/account/")

    assert page["Location"] == "/admin/account/methods/"
    assert (api.status_code, api.json()["code"]) == (403, "second_factor_required")
    # Public data needs no authentication.
    assert client.get("/api/forms-definitions/none").status_code == 404
    assert own.status_code == 200
    assert translator.get("/api/posts").status_code == 200
    TOTP.activate(User.objects.get(username="editor"), SECRET)
    log_in(client)
    client.post("/admin/logout/")
    log_in(client)
    client.post("/admin/login/code/", {"code": code_now()})
    assert client.get("/admin/").status_code == 200
    confirm_with_password(client, "/admin/account/methods/app/remove/")
    client.post("/admin/account/methods/app/remove/")
    assert Authenticator.objects.filter(type="totp").exists()


def test_other_ways_to_confirm_are_called_as_everywhere() -> None:
    user = with_app()
    Authenticator.objects.create(user=user, type="webauthn", data={"name": "Key", "credential": {}})
    client = Client()
    client.force_login(user)

    page = client.get("/admin/account/confirm/").content.decode()

    others = re.findall(r'<a class="button" href="/admin/account/confirm/[^"]*">([^<]+)</a>', page)
    assert sorted(others) == ["Use a passkey", "Use your authenticator app or a recovery code"]


def test_a_code_that_one_door_took_is_refused_by_the_other() -> None:
    user = with_app()
    client, code = Client(), code_now()
    log_in(client)
    client.post("/admin/login/code/", {"code": code})

    replayed = ApiClient().send(
        "POST", "/api/auth/login", {"email": user.email, "password": make.PASSWORD, "code": code}
    )

    assert is_logged_in(client)
    assert replayed.status_code == 401


@pytest.mark.parametrize("code", ["", " ", "00000000000000000000", "١٢٣٤٥٦", "\x00", "a" * 10_000])
def test_codes_that_are_none_are_refused(code: str) -> None:
    user = with_app()
    client = Client()
    log_in(client)

    page = client.post("/admin/login/code/", {"code": code})
    api = ApiClient().send(
        "POST", "/api/auth/login", {"email": user.email, "password": make.PASSWORD, "code": code}
    )

    assert page.status_code in (400, 422)
    assert api.status_code in (401, 422)
    assert not is_logged_in(client)


def test_a_login_starts_a_new_session_after_the_code_too() -> None:
    with_app()
    client = Client()
    log_in(client)
    before = client.cookies["sessionid"].value

    client.post("/admin/login/code/", {"code": code_now()})

    assert client.cookies["sessionid"].value != before


def test_a_code_asks_for_a_password_first() -> None:
    with_app()
    client = Client()

    answer = client.post("/admin/login/code/", {"code": code_now()})

    assert answer["Location"] == "/admin/login/"
    assert not is_logged_in(client)


def test_an_administrator_helps_who_lost_their_phone_and_ends_a_stolen_session() -> None:
    user = with_app()
    theirs, api = Client(), ApiClient("editor")
    theirs.force_login(user)
    admin = ApiClient("admin")
    page = f"/admin/proofroom_accounts/user/{user.pk}/change/"

    shown = admin.get(page).content.decode()
    admin.send_form("POST", page, {"do": "factors"})
    admin.send_form("POST", page, {"do": "sessions"})

    assert "Two-factor authentication: authenticator app" in shown
    assert "Two-factor authentication is not set up." in admin.get(page).content.decode()
    assert not Authenticator.objects.filter(user=user).exists()
    assert theirs.get("/admin/")["Location"].startswith("/admin/login/")
    assert api.get("/api/posts").status_code == 401
    log = admin.get("/admin/proofroom_core/event/").content.decode()
    assert "admin removed two-factor authentication of ‘editor’" in log
    assert "admin ended all sessions of ‘editor’" in log


def test_nobody_weakens_the_login_of_who_has_more_rights() -> None:
    admin = with_app("admin")
    make.site_role("clerk", "users.manage")
    clerk = make.actor("clerk")

    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        remove_second_factors(user=admin, actor=clerk)
    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        end_account_sessions(user_id=admin.pk, actor=clerk)

    assert Authenticator.objects.filter(user=admin).exists()
    assert User.objects.get(pk=admin.pk).session_epoch == admin.session_epoch


def test_an_operator_takes_second_factors_away() -> None:
    make.user("admin")
    with_codes(with_app())

    call_command("remove_second_factor", "Editor@example.com", verbosity=0)

    assert not Authenticator.objects.exists()
    assert [event.payload["type"] for event in recorded("user.second-factor-removed")] == ["all"]
    client = Client()
    assert log_in(client).url == "/admin/"
    with pytest.raises(CommandError):
        call_command("remove_second_factor", "nobody@example.com")
