"""Home: pending work, views, health, first steps; a fixed number of queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents_app.models import AgentRun
from analytics.models import Dimension, Grain, SiteCount
from cms_project import system_health
from content.models import Layer, Post, QueuedChange
from proofroom.notifications.models import Notification
from proofroom.webhooks.models import Delivery
from proofroom_apps.steps.models import StepRound
from tests import make
from tests.queries import count_queries

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
    lately = timezone.now() - timedelta(days=2)
    for status in ("failed", "succeeded", "timed_out"):
        run = AgentRun.objects.create(agent_id="a", scope="global", status=status, via="admin")
        if status == "timed_out":
            AgentRun.objects.filter(pk=run.pk).update(created_at=lately)
    to = make.webhook()
    make.delivery(make.event(), to)
    old = make.delivery(make.event(), to)
    Delivery.objects.filter(pk=old.pk).update(finished_at=lately)

    assert tiles(signed_in("admin").get("/admin/").content.decode()) == {
        "AI Review": 2,
        "Review": 1,
        "Open feedback": 0,
        "Scheduled": 1,
        "Failed runs": 1,
        "Failed deliveries": 1,
    }
    home = signed_in("admin")
    lists = re.findall(
        'class="tile [^>]*href="(/admin/[a-z].*?)"', home.get("/admin/").content.decode()
    )
    shown = {
        address.split("/")[3]: home.get(unescape(address)).context["cl"].result_count
        for address in lists
        if "inbox" not in address
    }
    assert shown == {"feedback": 0, "post": 1, "agentrun": 1, "delivery": 1}
    translator = signed_in("translator").get("/admin/").content.decode()
    # A translator may decide neither.
    assert tiles(translator) == {"Open feedback": 0}
    assert 'id="home-review"' not in translator
    assert 'id="home-ai"' not in translator
    assert 'class="lights"' not in translator
    assert "home-views" not in translator
    assert "Agents since yesterday" in signed_in("admin").get("/admin/").content.decode()
    assert "Agents since yesterday" not in translator


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
    assert "Some drafts are not listed correctly: run manage.py rebuild_inbox" in page

    def broken() -> None:
        raise RuntimeError("postgres://user:secret@host")

    monkeypatch.setattr(system_health, "_CHECKS", (("Worker", broken),))
    page = signed_in("admin").get("/admin/").content.decode()
    assert "RuntimeError" in page
    assert "secret@host" not in page


def test_the_system_page_says_of_every_part_what_was_found_and_how_the_site_is_set_up(
    signed_in: SignedIn, settings: Any
) -> None:
    settings.SITE_URL = "https://coffee.example"
    client = signed_in("admin")

    page = " ".join(re.sub("<[^>]*>", " ", client.get("/admin/system/").content.decode()).split())

    assert "Media files OK Not checked yet" in page
    assert "Address https://coffee.example Languages English (default), German" in page
    assert 'href="/admin/system/"' in client.get("/admin/").content.decode()


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
        return count_queries(client.get, "/admin/")

    before = count()
    for number in range(7):
        make.staged(make.post(f"No. {number}"), {"title": "x", "slug": f"x-{number}"})
    assert count() == before == 30


def test_home_lists_what_one_wrote_and_what_was_sent_back(signed_in: SignedIn) -> None:
    own = re.compile(r'<section [^>]*aria-labelledby="home-own">.*?</section>', re.DOTALL)
    line = re.compile(r'<li><a [^>]*>([^<]+)</a> <span class="badge badge-([\w-]+)">([^<]+)<')
    note = re.compile(r'<span class="home-said">([^<]+)<')

    def shown(role: str) -> list[tuple[str, ...]]:
        found = own.search(signed_in(role).get("/admin/").content.decode())
        items = found[0].split("</li>")[:-1] if found else []
        return [(*line.findall(item)[0], *note.findall(item)) for item in items]

    editor = make.user("editor")
    _plain, proposed, returned, rejected = (
        make.post(title) for title in ("Plain", "Proposed", "Returned", "Rejected")
    )
    Post.objects.update(author=editor)
    others = make.post("Of others")
    Post.objects.filter(pk=others.pk).update(author=make.user("admin"))
    make.staged(proposed, {"title": "New"}, layer=Layer.REVIEW)
    row = StepRound.objects.create(post=returned, opened_at=timezone.now(), started_by=editor)
    row.decisions.create(action="returned", by=make.user("admin"), note="Too long.")
    Notification.objects.create(
        user=editor,
        kind="review.decided",
        group=f"post.review.reject:{rejected.pk}",
        subjects=[str(rejected.pk)],
        event_id=1,
        created_at=timezone.now(),
        updated_at=timezone.now(),
    )

    expected = [
        ("Rejected", "returned", "Changes rejected"),
        ("Returned", "returned", "Sent back to you", "Too long."),
        ("Proposed", "review", "In Review"),
        ("Plain", "published", "Published"),
    ]
    assert shown("editor") == expected
    assert [title for title, *_ in shown("admin")] == ["Of others"]

    # Changed since, or decided on since: no longer sent back.
    make.staged(rejected, {"title": "Better"}, layer=Layer.REVIEW)
    row.decisions.create(action="started", by=editor)
    states = {title: state for title, state, *_ in shown("editor")}
    assert states == {
        "Rejected": "review",
        "Returned": "published",
        "Proposed": "review",
        "Plain": "published",
    }
