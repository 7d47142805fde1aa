"""Invitations: permissions, and the results of their links."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from proofroom.accounts.models import Invitation, User
from proofroom.accounts.services.invitations import create_invitation
from proofroom.core.errors import NotAllowed
from tests import make
from tests.accounts.login_steps import NEW_PASSWORD, link_in_mail, log_in, recorded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]


def test_an_invitation_makes_one_account_with_its_role() -> None:
    admin = Client()
    admin.force_login(make.user("admin"))

    admin.post(
        "/admin/proofroom_accounts/invitation/add/",
        {"email": "New@Example.com", "role": "translator"},
    )
    link = link_in_mail()
    client = Client()
    asked = client.get(link)
    made = client.post(link, {"username": "newcomer", "password": NEW_PASSWORD})
    again = Client().post(link, {"username": "second", "password": NEW_PASSWORD})

    user = User.objects.get(email="new@example.com")
    assert asked.status_code == 200
    assert made["Location"] == "/admin/login/"
    assert (user.username, user.role) == ("newcomer", "translator")
    assert log_in(client, "new", NEW_PASSWORD).url == "/admin/"
    assert again.status_code == 404
    assert not User.objects.filter(username="second").exists()
    assert [len(recorded(f"invitation.{name}")) for name in ("created", "accepted")] == [1, 1]


@pytest.mark.parametrize("end", ["expired", "revoked", "replaced", "made up"])
def test_an_invitation_that_is_over_makes_nobody_an_account(end: str) -> None:
    actor = make.actor("admin", via="admin")
    invitation, secret = create_invitation(email="new@example.com", role="editor", actor=actor)
    if end == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "revoked":
        admin = Client()
        admin.force_login(make.user("admin"))
        admin.post(f"/admin/proofroom_accounts/invitation/{invitation.pk}/change/")
    elif end == "replaced":
        create_invitation(email="new@example.com", role="translator", actor=actor)
    else:
        secret = "é" * 10
    values = {"username": "newcomer", "password": NEW_PASSWORD}

    answer = Client().post(f"/admin/login/invitation/{secret}/", values)

    assert answer.status_code == 404
    assert not User.objects.filter(email="new@example.com").exists()


def test_only_who_manages_accounts_invites_and_nobody_as_an_agent() -> None:
    editor = Client()
    editor.force_login(make.user("editor"))

    page = editor.post(
        "/admin/proofroom_accounts/invitation/add/", {"email": "a@example.com", "role": "admin"}
    )
    admin = Client()
    admin.force_login(make.user("admin"))
    agent = admin.post(
        "/admin/proofroom_accounts/invitation/add/", {"email": "a@example.com", "role": "ai_agent"}
    )

    assert (page.status_code, agent.status_code) == (403, 422)
    with pytest.raises(NotAllowed):
        create_invitation(email="a@example.com", role="editor", actor=make.actor("editor"))
    assert not Invitation.objects.exists()


def test_without_mail_the_link_is_shown_once(settings: Any) -> None:
    settings.HAS_EMAIL = False
    admin = Client()
    admin.force_login(make.user("admin"))

    page = admin.post(
        "/admin/proofroom_accounts/invitation/add/", {"email": "a@example.com", "role": "editor"}
    )

    found = re.search(r"/admin/login/invitation/[\w-]+/", page.content.decode())
    assert found is not None
    assert "no-store" in page["Cache-Control"]
    assert Client().get(found[0]).status_code == 200
    assert mail.outbox == []
