"""Forgotten passwords: links in emails that work once, and the same answer for every address."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from proofroom.accounts.models import User
from tests import make
from tests.accounts.login_steps import NEW_PASSWORD, is_logged_in, link_in_mail, log_in, recorded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]


def test_a_forgotten_password_is_reset_by_a_link_that_works_once() -> None:
    user = make.user("editor")
    other = Client()
    log_in(other)
    client = Client()

    asked = client.post("/admin/login/forgot/", {"email": "Editor@Example.com"})
    link = link_in_mail()
    form = client.get(link, follow=True)
    changed = client.post(
        form.redirect_chain[-1][0], {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    )
    again = Client().get(link)

    user.refresh_from_db()
    assert asked["Location"] == "/admin/login/forgot/sent/"
    assert mail.outbox[0].to == ["editor@example.com"]
    assert changed["Location"] == "/admin/login/reset/done/"
    assert user.check_password(NEW_PASSWORD)
    assert not is_logged_in(client)
    assert not is_logged_in(other)
    assert "already used" in again.content.decode()
    assert [event.actor_id for event in recorded("user.password-reset")] == [user.pk]


def test_the_page_of_a_new_password_says_everything_once() -> None:
    make.user("editor")
    client = Client()
    client.post("/admin/login/forgot/", {"email": "editor@example.com"})

    form = client.get(link_in_mail(), follow=True)
    page = form.content.decode()
    done = client.post(
        form.redirect_chain[-1][0],
        {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD},
        follow=True,
    ).content.decode()

    labels = re.findall(r'<label for="id_password\d">([^<]+)</label>', page)
    assert labels == ["New password", "Confirm new password"]
    assert page.count("At least 8 characters") == 1
    assert "placeholder" not in page
    assert done.count("Your password was changed") == 2  # the title and the heading


def test_unknown_and_known_emails_get_one_answer_and_each_a_mail() -> None:
    make.user("editor")

    answers = [
        Client().post("/admin/login/forgot/", {"email": email})
        for email in ("editor@example.com", "nobody@example.com")
    ]

    assert {(answer.status_code, answer["Location"]) for answer in answers} == {
        (302, "/admin/login/forgot/sent/")
    }
    assert [message.to for message in mail.outbox] == [
        ["editor@example.com"],
        ["nobody@example.com"],
    ]
    assert "/admin/login/reset/" not in str(mail.outbox[1].body)


@pytest.mark.parametrize("kind", ["agent", "disabled", "without password"])
def test_who_cannot_log_in_with_a_password_gets_no_link(kind: str) -> None:
    user = make.user("ai_agent" if kind == "agent" else "editor")
    if kind == "disabled":
        User.objects.filter(pk=user.pk).update(is_active=False)
    elif kind == "without password":
        user.set_unusable_password()
        user.save()

    Client().post("/admin/login/forgot/", {"email": user.email})

    assert not any("/admin/login/reset/" in str(message.body) for message in mail.outbox)


@pytest.mark.parametrize("host", ["testserver", "127.0.0.1"])
def test_links_in_mails_have_the_address_of_the_site(settings: Any, host: str) -> None:
    settings.SITE_URL = "https://cms.example.org"
    make.user("editor")

    Client().post("/admin/login/forgot/", {"email": "editor@example.com"}, HTTP_HOST=host)

    assert "https://cms.example.org/admin/login/reset/" in str(mail.outbox[0].body)


def test_a_foreign_or_forged_link_resets_nothing() -> None:
    user, other = make.user("editor"), make.user("admin")
    Client().post("/admin/login/forgot/", {"email": user.email})
    token = link_in_mail().rstrip("/").split("-", 1)[1]

    for path in (f"{'1'}-{token}", "zz-made-up", f"{other.pk}-{token}"):
        answer = Client().get(f"/admin/login/reset/{path}/", follow=True)
        if path.split("-")[0] != str(user.pk):
            assert "expired or was already used" in answer.content.decode()
