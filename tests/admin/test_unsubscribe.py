"""The unsubscribe link of a mail: without a login, by POST only, for the kinds of the mail."""

from __future__ import annotations

import pytest
from django.core import signing
from django.test import Client

from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from proofroom.notifications.models import Channel, NotificationChoice
from proofroom.notifications.queries import channels_of
from proofroom.notifications.services import choose_channels, unsubscribe_token
from tests import make

pytestmark = pytest.mark.django_db
KINDS = ("review.waiting", "form.submitted")
ONE_CLICK = {"List-Unsubscribe": "One-Click"}


def account(actor: Actor) -> User:
    return User.objects.get(pk=actor.user.pk)


def address(actor: Actor, channel: Channel = Channel.DIGEST) -> str:
    token = unsubscribe_token(account(actor), channel, KINDS)
    return f"/admin/notifications/unsubscribe/{token}/"


def test_one_click_stops_the_mails_of_its_kinds_and_nothing_else() -> None:
    admin = make.actor("admin")
    before = channels_of(account(admin))

    # Like a mail provider: no cookie, no CSRF token.
    answer = Client(enforce_csrf_checks=True).post(address(admin), ONE_CLICK)

    assert answer.status_code == 200
    assert "You get no more daily emails about:" in answer.content.decode()
    assert not answer.cookies.get("sessionid")
    assert channels_of(account(admin)) == before | dict.fromkeys(KINDS, "admin")
    assert Event.objects.filter(name="user.changed").count() == 1


def test_twice_is_as_once() -> None:
    admin = make.actor("admin")
    for _ in range(2):
        assert Client().post(address(admin), ONE_CLICK).status_code == 200

    assert NotificationChoice.objects.count() == len(KINDS)
    assert Event.objects.filter(name="user.changed").count() == 1


@pytest.mark.parametrize("method", ["get", "head", "options"])
def test_opening_the_link_changes_nothing(method: str) -> None:
    admin = make.actor("admin")

    answer = getattr(Client(), method)(address(admin))

    assert answer.status_code == (405 if method == "options" else 200)
    assert not NotificationChoice.objects.exists()
    if method == "get":
        assert "Stop the emails" in answer.content.decode()
        assert answer["Referrer-Policy"] == "no-referrer"
        assert "no-store" in answer["Cache-Control"]


def test_what_was_chosen_since_the_mail_stays() -> None:
    admin = make.actor("admin")
    link = address(admin)
    choose_channels(actor=admin, channels={"review.waiting": "mail", "form.submitted": "off"})

    Client().post(link, ONE_CLICK)

    stored = channels_of(account(admin))
    assert (stored["review.waiting"], stored["form.submitted"]) == ("mail", "off")


def test_a_link_of_mails_at_once_stops_those() -> None:
    admin = make.actor("admin")
    choose_channels(actor=admin, channels={"review.waiting": "mail"})

    Client().post(address(admin, Channel.MAIL), ONE_CLICK)

    stored = channels_of(account(admin))
    assert (stored["review.waiting"], stored["form.submitted"]) == ("admin", "daily")


@pytest.mark.parametrize("case", ["cut", "other salt", "no user", "shape", "unknown channel"])
def test_a_wrong_link_is_404_and_changes_nothing(case: str) -> None:
    admin = make.actor("admin")
    salt = "notifications.unsubscribe"
    pk = admin.user.pk
    tokens = {
        "cut": address(admin).split("/")[-2][:-1],
        "other salt": signing.dumps([pk, "daily", list(KINDS)]),
        "no user": signing.dumps([-1, "daily", list(KINDS)], salt=salt),
        "shape": signing.dumps({"user": pk}, salt=salt),
        "unknown channel": signing.dumps([pk, "pigeon", list(KINDS)], salt=salt),
    }

    for send in (Client().get, Client().post):
        answer = send(f"/admin/notifications/unsubscribe/{tokens[case]}/")
        assert answer.status_code == 404
    assert not NotificationChoice.objects.exists()


def test_the_account_links_to_the_settings_by_category() -> None:
    client = Client()
    client.force_login(make.user("admin"))

    assert "/admin/notifications/choices/" in client.get("/admin/account/").content.decode()
    page = client.get("/admin/notifications/choices/").content.decode()

    headings = ["Mentions and assignments", "Decisions", "Dates", "Everything else"]
    places = [page.index(f">{heading}</h2>") for heading in headings]
    assert places == sorted(places)


def test_saving_without_a_change_stores_nothing() -> None:
    client = Client()
    client.force_login(make.user("admin"))
    form = client.get("/admin/notifications/choices/").context["form"]

    client.post("/admin/notifications/choices/", {field.name: field.initial for field in form})

    assert not NotificationChoice.objects.exists()
