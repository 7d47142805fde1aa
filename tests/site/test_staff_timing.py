"""Staff see the timing of a page; visitors and their caches do not."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from proofroom.core.caching.answer_cache import answers
from proofroom.core.middleware import STAFF_COOKIE
from tests import make
from tests.front import Answered, Front

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/blog/how-to-brew-filter-coffee"
DOORS = [PAGE, f"{PAGE}.md", "/blog", "/blog.md", "/blog/feed.xml", "/llms.txt", "/search?q=coffee"]
OTHERS = ["/nothing-here", f"{PAGE}/"]
"""A missing page, and a non-canonical URL."""


def session_of(role: str) -> str:
    browser = Client()
    browser.force_login(make.user(role))
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


def cookies(session: str, marker: str = "1") -> dict[str, str]:
    name = settings.SESSION_COOKIE_NAME
    return {"HTTP_COOKIE": f"{name}={session}; {STAFF_COOKIE}={marker}"}


def shared(answer: Answered) -> tuple[int, dict[str, str], bytes]:
    """Return the headers that are equal for each call."""
    headers = {name: value for name, value in answer.headers.items() if name != "X-Request-ID"}
    return answer.status, headers, answer.content


@pytest.mark.parametrize("door", [*DOORS, *OTHERS])
def test_staff_see_it_where_no_shared_cache_keeps_it(door: str) -> None:
    make.post()

    for role in ("admin", "editor", "translator"):
        answer = Front().get(door, **cookies(session_of(role)))

        timing = answer.headers["Server-Timing"]
        assert timing.startswith("total;dur="), role
        assert ' statements", app;dur=' in timing, role
        kept_by = answer.headers["Cache-Control"].split(", ")
        assert "private" in kept_by, role
        assert "public" not in kept_by, role
        assert "Set-Cookie" not in answer.headers, role


@pytest.mark.parametrize("door", DOORS)
def test_visitors_get_what_they_got_without_staff(door: str) -> None:
    make.post()
    front, staff = Front(), cookies(session_of("admin"))
    # From Django, and kept.
    without = [shared(front.get(door)) for _ in range(3)]
    answers.clear()

    of_staff = [front.get(door, **staff)]
    after = [shared(front.get(door)) for _ in range(2)]
    of_staff.append(front.get(door, **staff))
    after.append(shared(front.get(door)))

    assert after == without
    assert all("Server-Timing" not in headers for _, headers, _ in after)
    assert all("Server-Timing" in answer.headers for answer in of_staff)
    assert {answer.content for answer in of_staff} == {without[0][2]}


def test_shared_caches_do_not_learn_it_from_a_304() -> None:
    make.post()
    front, staff = Front(), cookies(session_of("admin"))
    etag = front.get(PAGE, **staff).headers["ETag"]

    answer = front.get(PAGE, HTTP_IF_NONE_MATCH=etag, **staff)

    visitor = front.get(PAGE, HTTP_IF_NONE_MATCH=etag)
    assert answer.status == visitor.status == 304
    assert "Server-Timing" not in answer.headers
    assert answer.headers["Cache-Control"] == visitor.headers["Cache-Control"]


def test_a_browser_has_to_be_signed_in() -> None:
    make.post()
    session, front = session_of("admin"), Front()
    name = settings.SESSION_COOKIE_NAME

    for given in (
        {"HTTP_COOKIE": f"{STAFF_COOKIE}=1"},
        {"HTTP_COOKIE": f"{name}={session}"},
        cookies(session, marker="0"),
        cookies("made-up"),
        cookies(""),
    ):
        answer = front.get(PAGE, **given)
        assert answer.status == 200, given
        assert "Server-Timing" not in answer.headers, given
        assert answer.headers["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60", (
            given
        )


@pytest.mark.parametrize("change", ["password", "is_active", "role"])
def test_a_session_that_is_over_shows_nothing_and_stays_as_it_is(change: str) -> None:
    make.post()
    session, user = session_of("admin"), make.user("admin")
    if change == "password":
        user.set_password("another-password-of-theirs")
    elif change == "role":
        user.role = "editor"
    else:
        user.is_active = False
    user.save()

    answer = Front().get(PAGE, **cookies(session))

    assert answer.status == 200
    assert "Server-Timing" not in answer.headers
    assert Session.objects.filter(pk=session).exists()


def test_a_session_signed_with_the_key_before_goes_on(settings: Any) -> None:
    make.post()
    session = session_of("admin")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-key-of-this-site-that-is-long-enough"

    Front().get(PAGE, **cookies(session))

    browser = Client()
    browser.cookies[settings.SESSION_COOKIE_NAME] = session
    assert browser.get("/admin/").status_code == 200


def test_it_costs_staff_two_statements_and_others_none() -> None:
    make.post()
    session, front = session_of("admin"), Front()
    for given in ({}, cookies(session)):
        front.get(PAGE, **given)

    with CaptureQueriesContext(connection) as unmarked:
        front.get(PAGE, **cookies(session, marker="0"))
    with CaptureQueriesContext(connection) as marked:
        front.get(PAGE, **cookies(session))

    assert len(marked) - len(unmarked) == 2
