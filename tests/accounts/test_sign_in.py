"""What stands around the password: forgotten ones, emails, invitations, second factors, sessions."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core import mail
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from proofroom.accounts.devices import device_of
from proofroom.accounts.models import Invitation, User
from proofroom.accounts.services.invitations import create_invitation
from proofroom.accounts.services.second_factors import remove_second_factors
from proofroom.accounts.services.sessions import end_sessions_of
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
NEW_PASSWORD = "an-entirely-new-password"


@pytest.fixture(autouse=True)
def mail_goes_out(settings: Any) -> None:
    settings.HAS_EMAIL = True
    cache.clear()


def log_in(
    client: Client, name: str = "editor", password: str = make.PASSWORD, **extra: Any
) -> Any:
    data = {"username": f"{name}@example.com", "password": password, **extra}
    return client.post("/admin/login/", data)


def is_logged_in(client: Client) -> bool:
    return client.get("/api/auth/me").status_code == 200


def code_now(steps: int = 0) -> str:
    """The code of the authenticator app, `steps` of 30 seconds from now."""
    return str(format_hotp_value(hotp_value(SECRET, int(time.time()) // 30 + steps)))


def with_app(name: str = "editor") -> User:
    user = make.user(name)
    TOTP.activate(user, SECRET)
    return user


def with_codes(user: User) -> list[str]:
    codes: list[str] = RecoveryCodes.activate(user).generate_codes()
    return codes


def recorded(name: str) -> list[Event]:
    return list(Event.objects.filter(name=name).order_by("pk"))


def link_in_mail(index: int = -1) -> str:
    found = re.search(r"https?://[^/\s]+(/admin/\S+)", str(mail.outbox[index].body))
    assert found is not None
    return found[1]


# Forgotten passwords


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
    assert labels == ["New password", "New password confirmation"]
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


def test_a_link_of_somebody_else_or_made_up_resets_nothing() -> None:
    user, other = make.user("editor"), make.user("admin")
    Client().post("/admin/login/forgot/", {"email": user.email})
    token = link_in_mail().rstrip("/").split("-", 1)[1]

    for path in (f"{'1'}-{token}", "zz-made-up", f"{other.pk}-{token}"):
        answer = Client().get(f"/admin/login/reset/{path}/", follow=True)
        if path.split("-")[0] != str(user.pk):
            assert "expired or was already used" in answer.content.decode()


# Emails


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


def test_an_email_that_somebody_got_meanwhile_is_not_taken_from_them() -> None:
    user = make.user("editor")
    client = Client()
    log_in(client)
    confirm_with_password(client, "/admin/account/email/")
    client.post("/admin/account/email/", {"email": "new@example.com", "action_add": ""})
    User.objects.create_user("new@example.com", make.PASSWORD, username="other")

    client.post(link_in_mail(0))

    user.refresh_from_db()
    assert user.email == "editor@example.com"


def confirm_with_password(client: Client, path: str) -> None:
    """Answer the question that stands before a change of how somebody logs in."""
    client.post("/admin/account/confirm/", {"password": make.PASSWORD, "next": path})


# Invitations


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


# Second factors


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
def test_whoever_set_up_an_app_is_asked_for_their_password_first() -> None:
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
    # What anybody may read asks nobody who they are.
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


# Sessions and devices


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
def test_sessions_are_told_apart_by_words(agent: str, words: str) -> None:
    assert device_of(agent) == words


def test_a_login_from_a_new_device_is_told_by_mail(
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


def test_other_ways_to_confirm_are_called_as_everywhere() -> None:
    user = with_app()
    Authenticator.objects.create(user=user, type="webauthn", data={"name": "Key", "credential": {}})
    client = Client()
    client.force_login(user)

    page = client.get("/admin/account/confirm/").content.decode()

    others = re.findall(r'<a class="button" href="/admin/account/confirm/[^"]*">([^<]+)</a>', page)
    assert sorted(others) == ["Use a passkey", "Use your authenticator app or a recovery code"]


# Hostile


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


def test_a_login_starts_a_new_session_after_the_code_too() -> None:
    with_app()
    client = Client()
    log_in(client)
    before = client.cookies["sessionid"].value

    client.post("/admin/login/code/", {"code": code_now()})

    assert client.cookies["sessionid"].value != before


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


def test_a_code_asks_for_a_password_first() -> None:
    with_app()
    client = Client()

    answer = client.post("/admin/login/code/", {"code": code_now()})

    assert answer["Location"] == "/admin/login/"
    assert not is_logged_in(client)


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


def test_an_administrator_helps_who_lost_their_phone_and_ends_a_stolen_session() -> None:
    user = with_app()
    theirs, api = Client(), ApiClient("editor")
    theirs.force_login(user)
    admin = ApiClient("admin")
    page = f"/admin/proofroom_accounts/user/{user.pk}/change/"

    shown = admin.get(page).content.decode()
    admin.send_form("POST", page, {"do": "factors"})
    admin.send_form("POST", page, {"do": "sessions"})

    assert "Second factors: authenticator app" in shown
    assert "No second factor is set up." in admin.get(page).content.decode()
    assert not Authenticator.objects.filter(user=user).exists()
    assert theirs.get("/admin/")["Location"].startswith("/admin/login/")
    assert api.get("/api/posts").status_code == 401
    log = admin.get("/admin/proofroom_core/event/").content.decode()
    assert "admin removed the second factors of ‘editor’" in log
    assert "admin ended all sessions of ‘editor’" in log


def test_nobody_weakens_the_login_of_who_has_more_rights() -> None:
    admin = with_app("admin")
    make.site_role("clerk", "users.manage")
    clerk = make.actor("clerk")

    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        remove_second_factors(user=admin, actor=clerk)
    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        end_sessions_of(user_id=admin.pk, actor=clerk)

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
