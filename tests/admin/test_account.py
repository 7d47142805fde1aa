"""The account page, and the admin in each user's language, theme and time zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from django.test import Client
from django.utils import timezone

from content.models import Layer, Post
from proofroom.accounts.models import ApiToken, Preferences, User
from proofroom.accounts.services.preferences import change_preferences
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from tests import make
from tests.admin.pages import fields, url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
ADDRESS: Final = "/admin/account/"
VALUES: Final = {
    "do": "preferences",
    "time_zone": "America/New_York",
    "language": "de",
    "theme": "dark",
    "density": "compact",
}


def prefer(role: str, **values: Any) -> None:
    change_preferences(actor=Actor(user=make.user(role), via="admin"), **values)


def text(client: Client, address: str) -> str:
    return str(client.get(address).content.decode())


def test_the_account_page_saves_what_was_chosen(signed_in: SignedIn) -> None:
    client = signed_in()
    page = text(client, ADDRESS)
    assert "Your account" in page
    assert 'data-theme="auto"' in page
    assert "data-density" not in page
    assert "data-letter-keys" not in page

    answer = client.post(ADDRESS, VALUES)

    assert answer.status_code == 302
    row = Preferences.objects.get()
    assert (row.time_zone, row.language, row.theme, row.density, row.has_letter_keys) == (
        *("America/New_York", "de", "dark", "compact"),
        False,
    )
    page = text(client, ADDRESS)
    assert '<html lang="de"' in page
    for part in (
        *('data-theme="dark"', 'data-density="compact"', 'data-letter-keys="off"'),
        *('data-time-zone="America/New_York"', "Einstellungen gespeichert."),
        "America/New York",
    ):
        assert part in page, part


def test_what_is_unknown_is_refused_and_nothing_stored(signed_in: SignedIn) -> None:
    client = signed_in()
    for name in ("time_zone", "language", "theme", "density"):
        answer = client.post(ADDRESS, {**VALUES, name: "nothing"})
        assert answer.status_code == 422, name
        assert f'id="id_{name}' in answer.content.decode()
    answer = client.post(ADDRESS, {"do": "theme", "theme": "sepia"})
    assert answer.status_code == 422
    assert not Preferences.objects.exists()


def test_the_menu_sets_the_theme_alone(signed_in: SignedIn) -> None:
    client = signed_in()
    prefer("editor", density="compact")

    quiet = client.post(
        ADDRESS, {"do": "theme", "theme": "dark"}, headers={"Accept": "application/json"}
    )
    plain = client.post(ADDRESS, {"do": "theme", "theme": "light"})

    assert (quiet.status_code, plain.status_code) == (204, 302)
    row = Preferences.objects.get()
    assert (row.theme, row.density) == ("light", "compact")
    # The login page uses it too.
    client.post("/admin/logout/")
    assert 'data-theme="light"' in text(client, "/admin/login/")


def test_a_language_of_the_menu_stays_with_the_account(signed_in: SignedIn) -> None:
    client = signed_in()
    client.post("/admin/language/", {"language": "de"})
    assert Preferences.objects.get().language == "de"

    elsewhere = signed_in()

    assert '<html lang="de"' in text(elsewhere, "/admin/")
    elsewhere.post("/admin/language/", {"language": "xx"})
    assert Preferences.objects.get().language == "de"


def test_the_account_needs_no_statement_more(
    signed_in: SignedIn, django_assert_num_queries: Any
) -> None:
    client = signed_in()
    client.get(ADDRESS)
    # Session, account, the number in the inbox, the connected AI clients.
    with django_assert_num_queries(4):
        client.get(ADDRESS)
    prefer("editor", theme="dark", time_zone="Asia/Kolkata")
    with django_assert_num_queries(4):
        client.get(ADDRESS)


MOMENT: Final = datetime(2031, 1, 15, 3, 50, tzinfo=UTC)
ZONES: Final = (
    ("", "2031-01-15 03:50", "UTC"),
    ("America/New_York", "2031-01-14 22:50", "America/New York"),
    ("Asia/Kolkata", "2031-01-15 09:20", "Asia/Kolkata"),
)


def _places() -> list[tuple[str, str]]:
    """Admin URLs that show a time, each with a role that may open it. Sets the time first."""
    post, gone = make.post("Tea"), make.post("Gone")
    make.staged(post, {"title": "Green tea"})
    make.staged(post, {"title": "Black tea"}, layer=Layer.REVIEW)
    make.form()
    submission = make.submission(email="visitor@example.com")
    Post.objects.filter(pk=gone.pk).update(deleted_at=MOMENT)
    Post.objects.update(updated_at=MOMENT)
    hook = make.webhook()
    event = make.event()
    delivery = make.delivery(event, hook)
    for rows in (type(submission).objects, type(delivery).objects, Event.objects):
        rows.update(created_at=MOMENT)
    post.revisions.update(created_at=MOMENT)
    User.objects.update(last_login=MOMENT)
    return [
        ("/admin/content/post/", "editor"),
        (url(post, "revisions"), "editor"),
        ("/admin/forms/formsubmission/", "editor"),
        (f"/admin/forms/formsubmission/{submission.pk}/change/", "editor"),
        ("/admin/proofroom_webhooks/delivery/", "admin"),
        (f"/admin/proofroom_webhooks/delivery/{delivery.pk}/change/", "admin"),
        ("/admin/proofroom_core/event/", "admin"),
        (f"/admin/proofroom_core/event/{event.pk}/change/", "admin"),
        ("/admin/", "editor"),
    ]


@pytest.mark.parametrize(("zone", "shown", "name"), ZONES)
def test_every_place_shows_its_time_in_the_zone_of_the_reader(
    signed_in: SignedIn, zone: str, shown: str, name: str
) -> None:
    places = _places()
    clients = {role: signed_in(role) for role in ("editor", "admin")}
    for role in clients:
        prefer(role, time_zone=zone)
    for address, role in places:
        # Each page view changes the last-seen time, so search all times of the page.
        page = text(clients[role], address)
        assert shown in page, address
        if zone:
            assert "2031-01-15 03:50" not in page, address
        assert f"Times in {name}" in page, address
        for title in re.findall(r'<time datetime="[^"]*" title="([^"]*)"', page):
            assert title.endswith(f"({name})"), (address, title)
    assert timezone.get_current_timezone_name() == "UTC"


@pytest.mark.parametrize(
    ("zone", "typed", "stored"),
    [
        ("", "2031-05-03T09:00", "2031-05-03T09:00"),
        ("America/New_York", "2031-05-03T09:00", "2031-05-03T13:00"),
        ("America/New_York", "2031-12-03T09:00", "2031-12-03T14:00"),
        ("Asia/Kolkata", "2031-05-03T09:00", "2031-05-03T03:30"),
        ("Asia/Kolkata", "2031-05-03T02:00", "2031-05-02T20:30"),
    ],
)
def test_a_schedule_is_read_in_the_zone_and_shown_in_it_again(
    signed_in: SignedIn, zone: str, typed: str, stored: str
) -> None:
    client, post = signed_in("admin"), make.post(status="draft")
    prefer("admin", time_zone=zone)

    answer = schedule(client, post, typed)

    assert answer.status_code == 302
    post.refresh_from_db()
    assert post.publish_at is not None
    assert post.publish_at.isoformat() == f"{stored}:00+00:00"
    page = text(client, url(post))
    assert page.count(f'value="{typed}"') == 1  # in the dialog
    name = zone.replace("_", " ") or "UTC"
    assert f"Publish at ({name})" in page
    # Unchanged values are not written again.
    before = Event.objects.count()
    client.post(url(post), {**fields(client.get(url(post)), "was"), "do": "save"})
    post.refresh_from_db()
    assert post.publish_at.isoformat() == f"{stored}:00+00:00"
    assert Event.objects.count() == before


@pytest.mark.parametrize(
    ("zone", "typed", "sentence"),
    [
        ("America/New_York", "2031-03-09T02:30", "so 02:30 does not exist"),
        ("America/New_York", "2031-11-02T01:30", "so 01:30 occurs twice"),
    ],
)
def test_a_time_that_clocks_skip_or_repeat_is_refused(
    signed_in: SignedIn, zone: str, typed: str, sentence: str
) -> None:
    client, post = signed_in("admin"), make.post(status="draft")
    prefer("admin", time_zone=zone)

    answer = schedule(client, post, typed)

    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    post.refresh_from_db()
    assert post.publish_at is None


def test_a_tokens_last_day_is_in_its_creators_time_zone(signed_in: SignedIn) -> None:
    client, editor = signed_in("admin"), make.user("editor")
    prefer("admin", time_zone="America/New_York")

    client.post(
        "/admin/proofroom_accounts/apitoken/add/",
        {
            "user": editor.pk,
            "name": "CI",
            "permissions": ["posts.view"],
            "expires_at": "2099-12-31",
        },
    )

    assert ApiToken.objects.get().expires_at == datetime(2100, 1, 1, 4, 59, 59, 999999, tzinfo=UTC)


def schedule(client: Client, post: Post, typed: str) -> Any:
    values = fields(client.get(url(post)), "was")
    return client.post(url(post), {**values, "do": "schedule", "schedule_at": typed})
