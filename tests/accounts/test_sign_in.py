"""Logins and sessions: errors, redirects, and their end."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core import mail
from django.test import Client

from proofroom.accounts.devices import device_name
from proofroom.accounts.models import User
from tests import make
from tests.accounts.login_steps import code_now, is_logged_in, log_in, recorded, with_app
from tests.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]


def test_sessions_are_listed_and_ended() -> None:
    make.user("editor")
    here, there = Client(HTTP_USER_AGENT="Here"), Client(HTTP_USER_AGENT="There")
    log_in(here)
    log_in(there)
    stranger = Client()
    log_in(stranger, make.user("translator").username)

    listed = here.get("/admin/account/sessions/").content.decode()
    stranger.post("/admin/account/sessions/")
    still = is_logged_in(there)
    here.post("/admin/account/sessions/")

    assert "Here" in listed
    assert "There" in listed
    assert still
    assert (is_logged_in(here), is_logged_in(there)) == (True, False)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
            "Firefox on Linux",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/150.0 Safari/537.36 Edg/150.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1",
            "Safari on iPhone",
        ),
        ("curl/8.5", "curl/8.5"),
        ("", "Unknown device"),
    ],
)
def test_sessions_have_distinct_descriptions(agent: str, words: str) -> None:
    assert device_name(agent) == words


def test_a_login_from_a_new_device_sends_an_email(
    django_capture_on_commit_callbacks: Any,
) -> None:
    make.user("editor")
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
    newer = firefox.replace("130", "131")

    with django_capture_on_commit_callbacks(execute=True):
        for agent in (firefox, newer):
            log_in(Client(HTTP_USER_AGENT=agent))
    before = len(mail.outbox)
    with django_capture_on_commit_callbacks(execute=True):
        log_in(
            Client(HTTP_USER_AGENT=firefox.replace("Linux", "Windows").replace("Firefox", "Edg"))
        )

    assert before == 0
    assert [message.subject for message in mail.outbox] == ["Login from a new device"]
    body = str(mail.outbox[0].body)
    assert "Browser: Edge on Windows\n" in body
    assert re.search(r"Time: \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\)", body)


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"],
)
def test_a_login_leads_nowhere_else(target: str) -> None:
    with_app()
    make.user("translator")
    client, other = Client(), Client()

    asked = log_in(client, next=target)
    done = client.post("/admin/login/code/", {"code": code_now(), "next": target})
    plain = log_in(other, "translator", next=target)

    assert asked["Location"] == "/admin/login/code/"
    assert (done["Location"], plain.url) == ("/admin/", "/admin/")


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "/api/posts"])
def test_a_confirmation_leads_nowhere_else(target: str) -> None:
    make.user("editor")
    client = Client()
    log_in(client)

    answer = client.post(
        "/admin/account/confirm/", {"password": make.PASSWORD, "next": target}, follow=False
    )

    assert not answer["Location"].startswith(("http", "//", "/api"))


@pytest.mark.parametrize("door", ["admin", "api", "forgotten"])
def test_known_and_unknown_emails_cost_the_same_hashes_and_get_the_same_words(
    door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.user("editor")
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(*given: Any) -> str:
        hashed.append("once")
        return encode(*given)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)

    def ask(email: str) -> tuple[int, str, int]:
        hashed.clear()
        if door == "admin":
            page = Client().post("/admin/login/", {"username": email, "password": "wrong"})
            words = re.findall(r'class="errornote">(.*?)<', page.content.decode())
            return page.status_code, str(words), len(hashed)
        if door == "api":
            api = ApiClient().send("POST", "/api/auth/login", {"email": email, "password": "wrong"})
            return api.status_code, str(api.json()), len(hashed)
        answer = Client().post("/admin/login/forgot/", {"email": email})
        return answer.status_code, answer["Location"], len(hashed)

    assert ask("editor@example.com") == ask("nobody@example.com")


@pytest.mark.parametrize(
    "path",
    [
        "/admin/login/",
        "/admin/login/forgot/",
        "/admin/login/code/",
        "/admin/login/passkey/",
        "/admin/login/invitation/x/",
        "/admin/account/email/",
        "/admin/account/sessions/",
        "/admin/account/methods/app/",
        "/admin/account/methods/app/remove/",
        "/admin/account/methods/passkeys/add/",
        "/admin/account/methods/recovery-codes/new/",
        "/admin/account/confirm/",
    ],
)
def test_every_page_of_the_login_refuses_forged_requests(path: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("editor"))

    assert client.post(path, {}).status_code == 403


def test_failed_logins_do_not_store_what_was_typed() -> None:
    make.user("editor")
    log_in(Client(), password="wrong")
    Client().post("/admin/login/", {"username": "my-secret-password", "password": "x"})

    events = recorded("user.login-failed")

    assert [event.payload["id"] for event in events] == [
        User.objects.get(username="editor").pk,
        None,
    ]
    assert "my-secret-password" not in str([event.payload for event in events])
