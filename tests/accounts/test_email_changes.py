"""Changes of an email address, effective after the confirmation of the new one."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from proofroom.accounts.models import User
from tests import make
from tests.accounts.login_steps import (
    confirm_with_password,
    is_logged_in,
    link_in_mail,
    log_in,
    recorded,
)
from tests.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]


def test_an_unconfirmed_email_logs_nobody_in() -> None:
    user = make.user("editor")
    EmailAddress.objects.filter(user=user).update(verified=False)
    client = Client()

    page = log_in(client)
    api = ApiClient().send(
        "POST", "/api/auth/login", {"email": user.email, "password": make.PASSWORD}
    )

    assert page["Location"] == "/admin/login/email/"
    assert not is_logged_in(client)
    assert (api.status_code, api.json()["code"]) == (401, "email_not_confirmed")
    assert "sessionid" not in api.cookies


def test_a_new_email_counts_once_its_link_was_opened() -> None:
    user = make.user("editor")
    client = Client()
    log_in(client)
    confirm_with_password(client, "/admin/account/email/")

    client.post("/admin/account/email/", {"email": "new@example.com", "action_add": ""})
    user.refresh_from_db()
    before = user.email
    client.post(link_in_mail(0))
    user.refresh_from_db()

    assert before == "editor@example.com"
    assert user.email == "new@example.com"
    assert list(EmailAddress.objects.filter(user=user).values_list("email", "verified")) == [
        ("new@example.com", True)
    ]
    assert len(recorded("user.email-changed")) == 1


def test_an_open_session_alone_changes_no_email() -> None:
    client = Client()
    client.force_login(make.user("editor"))

    page = client.get("/admin/account/email/")
    sent = client.post("/admin/account/email/", {"email": "new@example.com", "action_add": ""})

    assert page["Location"].startswith("/admin/account/confirm/")
    assert sent["Location"].startswith("/admin/account/confirm/")
    assert mail.outbox == []
    assert not EmailAddress.objects.filter(email="new@example.com").exists()


def test_an_email_taken_meanwhile_stays_with_its_account() -> None:
    user = make.user("editor")
    client = Client()
    log_in(client)
    confirm_with_password(client, "/admin/account/email/")
    client.post("/admin/account/email/", {"email": "new@example.com", "action_add": ""})
    User.objects.create_user("new@example.com", make.PASSWORD, username="other")

    client.post(link_in_mail(0))

    user.refresh_from_db()
    assert user.email == "editor@example.com"
