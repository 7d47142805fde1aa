"""The page of a heatmap: permissions, filters, and the frame."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from analytics.models import HeatBatch
from content.layers import approve, digest_of
from content.models import Layer, Post, Revision
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from tests import make
from tests.analytics.heat_cells import cell
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

NOBODY = "00000000-0000-4000-8000-000000000000"


def page_of(post: Post | str, query: str = "", *, expect: int = 200) -> str:
    pk = post if isinstance(post, str) else post.pk
    response = ApiClient("admin").get(f"/admin/analytics/heatmap/{pk}/{query}")
    assert response.status_code == expect, response.content[:500]
    return response.content.decode()


def frame_of(post: Post | str, query: str = "", *, expect: int = 200) -> Any:
    pk = post if isinstance(post, str) else post.pk
    response = ApiClient("admin").get(f"/admin/analytics/frame/{pk}/{query}")
    assert response.status_code == expect, response.content[:500]
    return response


def cells_in(page: str, stage: str = "live") -> Any:
    found = re.search(
        rf'<script id="heat-cells-{stage}" type="application/json">(.*?)</script>', page
    )
    assert found is not None
    return json.loads(found[1])


def ranked(page: str) -> list[tuple[str, str, str]]:
    """Return the modules with their clicks and shares, in order."""
    return re.findall(
        r'<strong>([^<]+)</strong> <span class="heat-count[^>]*>([\d,]+) <span class="quiet">· ([\d.]+) %',
        page,
    )


def approved(post: Post, title: str = "Another title") -> Revision:
    """Return the post after an editor approved a change."""
    make.staged(post, {"title": title}, layer=Layer.REVIEW)
    waiting = make.layers(post).review.changes
    _, revision = approve(post_id=post.pk, actor=make.actor("admin"), digest=digest_of(waiting))
    post.refresh_from_db()
    return revision


@pytest.mark.parametrize(("role", "status"), [("editor", 200), ("translator", 403)])
def test_only_who_may_read_figures_opens_it_or_is_led_to_it(role: str, status: int) -> None:
    post = make.post()

    opened = [
        ApiClient(role).get(f"/admin/analytics/{name}/{post.pk}/") for name in ("heatmap", "frame")
    ]

    assert [answer.status_code for answer in opened] == [status, status]
    assert ApiClient(role).get("/admin/analytics/sitecount/").status_code == status
    change = f"/admin/content/post/{post.pk}/change/"
    link = f"/admin/analytics/heatmap/{post.pk}/".encode()
    assert (link in ApiClient(role).get(change).content) == (status == 200)
    assert link in ApiClient("admin").get(change).content


def test_the_figures_of_the_api_stay_with_admins() -> None:
    post = make.post()

    for address in ("summary", f"heatmap?postId={post.pk}&eventType=click"):
        assert ApiClient("editor").get(f"/api/analytics/{address}").status_code == 403
        assert ApiClient("admin").get(f"/api/analytics/{address}").status_code == 200


def test_a_draft_that_nobody_saw_has_no_tab() -> None:
    post = make.post(status="draft")

    page = ApiClient("admin").get(f"/admin/content/post/{post.pk}/change/").content

    assert b"/admin/analytics/heatmap/" not in page
    assert "This post is not published" in page_of(post)


@pytest.mark.parametrize("name", ["heatmap", "frame"])
def test_what_is_not_there_or_deleted_is_not_found(name: str) -> None:
    post = make.post()
    delete_post(post_id=post.pk, actor=make.actor("admin"))
    client = ApiClient("admin")

    answers = [client.get(f"/admin/analytics/{name}/{pk}/").status_code for pk in (post.pk, NOBODY)]

    assert answers == [404, 404]


def test_clicks_of_modules_are_drawn_by_their_boxes_and_the_others_by_the_page() -> None:
    post = make.post()
    hero, gone = make.module_id(post, "hero"), str(uuid4())
    cell(post, hero, x=0.5, y=0.25, count=6)
    cell(post, gone, x=0.1, y=0.1, count=1)
    cell(post, x=430, y=250, count=3)
    cell(post, "~", x=500, y=300, count=7)  # the same clicks again, by the page

    page = page_of(post)

    assert cells_in(page) == {
        "page": [[0.43, 250.0, 3]],
        "modules": {hero: [[0.5, 0.25, 6]], gone: [[0.1, 0.1, 1]]},
    }
    assert "10 clicks on the page" in page
    assert 'data-heat-most="6"' in page
    assert ranked(page) == [
        ("Hero", "6", "60"),
        ("Prose", "0", "0"),
        ("Questions and answers", "0", "0"),
        ("A module that is gone", "1", "10"),
    ]
    assert "1 module no longer on the page" in page
    rows = re.findall(
        r'<tr><th scope="row">([^<]+)</th><td>([^<]+)</td><td>([^<]+)</td></tr>', page
    )
    assert rows == [
        ("Hero", "50 %, 25 %", "6"),
        ("Outside modules", "43 %, 250 px", "3"),
        ("A module that is gone", "10 %, 10 %", "1"),
    ]
    assert "No clicks in this period." not in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", 15),
        ("?viewport=mobile", 1),
        ("?viewport=tablet", 2),
        ("?viewport=desktop", 12),
        ("?viewport=watch&days=x&side=up&eventType=none", 15),
        ("?viewport=mobile&days=90", 17),
        ("?days=7", 15),
        ("?eventType=view", 32),
    ],
)
def test_the_address_filters(query: str, expected: int) -> None:
    post = make.post()
    today = timezone.now().astimezone(UTC).date()
    for device, count in (("mobile", 1), ("tablet", 2), ("desktop", 4)):
        cell(post, x=10, y=10, count=count, device=device)
    cell(post, x=20, y=20, count=8)
    cell(post, x=10, y=10, count=16, device="mobile", day=today - timedelta(days=60))
    cell(post, x=10, y=10, count=32, event_type="view")
    cell(make.post("Other", slug="other"), x=10, y=10, count=64)

    page = page_of(post, query)

    assert sum(spot[2] for spot in cells_in(page)["page"]) == expected


def test_a_period_of_its_own_counts_its_days_and_a_wrong_one_is_named() -> None:
    post = make.post()
    for day, count in ((1, 1), (10, 2), (20, 4)):
        cell(post, x=10, y=10, count=count, day=date(2026, 3, day))

    within = page_of(post, "?from=2026-03-02&to=2026-03-19")
    wrong = page_of(post, "?from=2026-03-19&to=2026-03-02", expect=422)

    assert cells_in(within)["page"] == [[0.01, 10.0, 2]]
    assert 'value="2026-03-02"' in within
    assert "from (2026-03-19) must not be later than to (2026-03-02)." in wrong
    assert cells_in(wrong)["page"] == []
    assert "No clicks in this period." not in wrong


@pytest.mark.parametrize(
    "query",
    [
        "?from=0001-01-01",
        "?to=99999-01-01",
        "?from=" + "9" * 5000,
        "?from=2026-02-30",
        "?to=%ED%A0%80",
    ],
    ids=range(5),
)
def test_hostile_days_are_refused_with_a_sentence(query: str) -> None:
    page = page_of(make.post(), query, expect=422)

    assert 'class="notice notice-problem"' in page
    assert len(page) < 60_000


@pytest.mark.parametrize("bad", ["x", NOBODY, "9" * 5000, "%ED%A0%80", "{}"])
def test_a_revision_that_is_not_of_this_post_is_not_found(bad: str) -> None:
    post = make.post()

    page_of(post, f"?revisionId={bad}", expect=404)
    frame_of(post, f"?revisionId={bad}", expect=404)


def test_a_revision_of_another_post_is_not_shown() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    revision = approved(other)

    page_of(post, f"?revisionId={revision.pk}", expect=404)
    frame_of(post, f"?revisionId={revision.pk}", expect=404)


def test_threat_16_the_frame_shows_what_is_live_or_was_and_nothing_that_waits() -> None:
    post = make.post("First title")
    first = approved(post, "Second title")
    make.staged(post, {"title": "Waits in Review", "excerpt": "Waits"}, layer=Layer.REVIEW)
    make.staged(post, {"metaTitle": "Waits in AI Review"})
    before = post.revisions.get(version=first.version - 1)

    live = frame_of(post).content.decode()
    was = frame_of(post, f"?revisionId={before.pk}").content.decode()

    assert "Waits" not in live + was
    assert "<title>Second title" in live
    assert "<title>First title" in was


def test_the_frame_runs_nothing_and_other_sites_may_not_frame_it() -> None:
    response = frame_of(make.post())

    policy = response["Content-Security-Policy"]
    assert "script-src 'none'" in policy
    assert "form-action 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert "no-store" in response["Cache-Control"]
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    html = response.content.decode()
    assert not re.search(r"<script[^>]*\ssrc", html)
    assert "preview-bar" not in html
    assert "data-heat-page" in html
    outer = ApiClient("admin").get(f"/admin/analytics/heatmap/{Post.objects.get().pk}/")
    assert outer["X-Frame-Options"] == "DENY"
    assert "no-store" in outer["Cache-Control"]
    assert 'sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"' in (
        outer.content.decode()
    )


def test_before_and_after_an_approval_count_what_was_live_then() -> None:
    post = make.post("First title")
    hero = make.module_id(post, "hero")
    cell(post, hero, x=0.1, y=0.1, count=3)
    revision = approved(post, "Second title")
    cell(post, hero, x=0.9, y=0.9, count=5)
    approved(post, "Third title")
    cell(post, hero, x=0.5, y=0.5, count=9)
    before = post.revisions.get(version=revision.version - 1)
    chosen = f"?revisionId={revision.pk}"

    both = page_of(post, chosen)
    only = page_of(post, f"{chosen}&side=before")

    assert cells_in(both, "before")["modules"] == {hero: [[0.1, 0.1, 3]]}
    assert cells_in(both, "after")["modules"] == {hero: [[0.9, 0.9, 5]]}
    frames = re.findall(r'<iframe[^>]* src="([^"]+)"', both)
    base = f"/admin/analytics/frame/{post.pk}/?revisionId="
    assert frames == [base + str(before.pk), base + str(revision.pk)]
    assert re.findall(r'<iframe[^>]* src="([^"]+)"', only) == frames[:1]
    assert 'data-heat-most="5"' in both  # one scale for both
    assert "version 1" in only
    assert cells_in(page_of(post))["modules"][hero] == [
        [0.5, 0.5, 9],
        [0.9, 0.9, 5],
        [0.1, 0.1, 3],
    ]


def test_an_approval_is_looked_at_by_the_days_around_it() -> None:
    post = make.post()
    revision = approved(post)
    turn = date(2026, 3, 10)
    moment = timezone.now().replace(year=2026, month=3, day=10)
    Revision.objects.filter(pk=revision.pk).update(created_at=moment)
    old = revision.version - 1
    for days, version, count in (
        (-7, old, 1),
        (-6, old, 2),
        (0, old, 4),
        (0, 2, 8),
        (6, 2, 16),
        (7, 2, 32),
    ):
        cell(post, x=10, y=10, count=count, version=version, day=turn + timedelta(days=days))  # fmt: skip

    page = page_of(post, f"?revisionId={revision.pk}&days=7")

    assert [cells_in(page, side)["page"][0][2] for side in ("before", "after")] == [6, 24]


def test_a_variation_has_figures_and_a_page_of_its_own() -> None:
    post = make.post("The original")
    variation = create_variation(post_id=post.pk, variation="B", actor=make.actor("admin"))
    make.edited(variation, {"title": "The other"}, by=make.actor("admin"))
    cell(variation, make.module_id(variation, "hero"), x=0.5, y=0.5, count=2)

    page, frame = page_of(variation), frame_of(variation).content.decode()

    assert "2 clicks on the page" in page
    assert "<title>The other" in frame
    assert "0 clicks on the page" in page_of(post)


def test_names_from_outside_cannot_leave_the_page() -> None:
    post = make.post()
    cell(post, '</script><img src=x onerror="', x=0.5, y=0.5, count=2)

    page = page_of(post)

    assert "<img src=x" not in page
    assert cells_in(page)["modules"] == {'</script><img src=x onerror="': [[0.5, 0.5, 2]]}


def test_it_takes_as_many_queries_for_much_as_for_little() -> None:
    post = make.post()
    revision = approved(post)
    hero, client = make.module_id(post, "hero"), ApiClient("admin")
    for version in (revision.version - 1, revision.version):
        cell(post, hero, x=0.5, y=0.5, version=version)

    def queries() -> int:
        return count_queries(
            client.get, f"/admin/analytics/heatmap/{post.pk}/?revisionId={revision.pk}"
        )

    few = queries()
    for place in range(30):
        cell(post, str(uuid4()), x=place / 100, y=0.5)
        cell(post, x=place * 10, y=place * 10)
    make.placed(post, make.global_module())

    assert HeatBatch.objects.count() == 62
    assert queries() == few
