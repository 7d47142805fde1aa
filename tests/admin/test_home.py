"""Home: what waits for whoever looks, views, health, first steps; a fixed number of queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.models import Dimension, Grain, SiteCount
from cms_project.admin_home import lights as home_lights
from content.models import Layer, Post, QueuedChange
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def tiles(html: str) -> dict[str, int]:
    found = re.findall(r"<strong>(\d+)</strong> <span>([^<]+?)(?: <small>|</span>)", html)
    return {label: int(count) for count, label in found}


def test_numbers_are_of_what_one_may_do_something_about(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"title": "New", "excerpt": "New too"})
    make.staged(post, {"metaTitle": "A person's"}, layer=Layer.REVIEW)
    due = make.post("Soon", status="draft")
    Post.objects.filter(pk=due.pk).update(publish_at=timezone.now() + timedelta(days=1))

    assert tiles(signed_in("admin").get("/admin/").content.decode()) == {
        "AI Review": 2,
        "Review": 1,
        "Open feedback": 0,
        "Scheduled": 1,
        "Failed runs": 0,
        "Failed deliveries": 0,
    }
    translator = signed_in("translator").get("/admin/").content.decode()
    assert tiles(translator) == {"AI Review": 2, "Review": 1, "Open feedback": 0}
    assert 'class="lights"' not in translator
    assert "home-views" not in translator


def test_views_stand_beside_the_period_before(signed_in: SignedIn) -> None:
    today = timezone.now().date()
    for days, views in ((1, 30), (35, 20)):
        SiteCount.objects.create(
            day=today - timedelta(days=days),
            grain=Grain.DAY,
            dimension=Dimension.TOTAL,
            value="",
            views=views,
            clicks=0,
        )

    page = signed_in("admin").get("/admin/").content.decode()

    assert "<strong>30</strong>" in page.partition("home-sum")[2].partition("</p>")[0]
    assert "50 percent more than before" in page
    assert '<polyline class="before"' in page


def test_lights_say_what_is_wrong_and_a_check_that_breaks_breaks_no_page(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.staged(make.post(), {"title": "New"})
    QueuedChange.objects.all().delete()
    page = signed_in("admin").get("/admin/").content.decode()
    assert "some drafts are not listed as they are: run manage.py rebuild_inbox" in page

    def broken() -> None:
        raise RuntimeError("postgres://user:secret@host")

    monkeypatch.setattr(home_lights, "_CHECKS", (("Worker", broken),))
    page = signed_in("admin").get("/admin/").content.decode()
    assert "RuntimeError" in page
    assert "secret@host" not in page


def test_an_empty_site_says_what_comes_first(signed_in: SignedIn) -> None:
    page = signed_in("admin").get("/admin/").content.decode()
    assert "First steps" in page
    make.post()
    assert "First steps" not in signed_in("admin").get("/admin/").content.decode()


def test_home_asks_as_often_for_much_as_for_little(signed_in: SignedIn) -> None:
    make.staged(make.post("One"), {"title": "x"})
    client = signed_in("admin")

    def count() -> int:
        client.get("/admin/")
        with CaptureQueriesContext(connection) as caught:
            client.get("/admin/")
        # The session is in the cache where there is Redis.
        return sum("django_session" not in query["sql"] for query in caught)

    before = count()
    for number in range(7):
        make.staged(make.post(f"No. {number}"), {"title": "x", "slug": f"x-{number}"})
    assert count() == before == 20
