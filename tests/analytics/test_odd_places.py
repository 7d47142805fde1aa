"""Invalid positions of clicks: rounded on input, and stored ones do not stop adding up."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import DataError
from django.test import Client

from analytics.models import AnalyticsEvent, PostCount
from analytics.rollups import aggregate
from analytics.rollups.aggregate import add_up
from tests import make
from tests.analytics.happened import click, keep
from tests.analytics.heat_cells import stored_cells
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
TRACK = "/api/public/analytics/track"
DENORMAL = 5e-324


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("5e-324", "0.0"),
        ("2.2250738585072014e-308", "0.0"),
        ("-0.0", "0.0"),
        ("-0", "0.0"),
        ("0.0004", "0.0"),
        ("0.1234567", "0.123"),
        ("12.5", "12.5"),
        ("1e6", "1000000.0"),
    ],
)
def test_places_are_kept_to_a_thousandth_of_a_pixel(told: str, kept: str) -> None:
    body = f'{{"eventType":"click","x":{told},"y":{told},"viewportWidth":1}}'
    response = Client().generic("POST", TRACK, body, content_type="application/json")

    assert response.status_code == 200, response.content
    event = AnalyticsEvent.objects.get()
    assert (repr(event.x), repr(event.y)) == (kept, kept)


@pytest.mark.parametrize(
    "place", [DENORMAL, 2.3e-308, 1e-300, 1e-7, -0.0, -5.0, 1e308, float("inf")]
)
@pytest.mark.parametrize("width", [1, 1_000, 2**31 - 1])
def test_a_stored_place_of_any_size_stops_no_other_event(place: float, width: int) -> None:
    post = make.post()
    click(post, place, 1.0, width)
    click(post, 1.0, place, width)
    click(
        post,
        place,
        place,
        width,
        metadata={"moduleX": place if abs(place) < 1 else 1, "moduleY": DENORMAL},
    )
    keep(post)

    assert add_up() == 4
    total = PostCount.objects.get(post_id=post.pk, dimension="total", grain="day")
    assert (total.views, total.clicks) == (1, 3)
    assert sum(hits for hits, _, _ in stored_cells().values()) == 3


def test_reports_are_read_where_adding_up_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    post = make.post()
    keep(post)
    assert add_up() == 1
    keep(post)

    def fail(*given: Any) -> None:
        raise DataError("value out of range: underflow")

    monkeypatch.setattr(aggregate, "count_chunk", fail)
    client = ApiClient("admin")
    paths = (
        "/api/analytics/summary",
        f"/api/analytics/heatmap?postId={post.pk}",
        f"/api/analytics/heatmap/modules?postId={post.pk}",
        f"/api/analytics/variations?postId={post.pk}",
        "/admin/analytics/sitecount/",
        f"/admin/analytics/heatmap/{post.pk}/",
        f"/admin/analytics/variations/{post.pk}/",
    )

    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)
    total = PostCount.objects.get(post_id=post.pk, dimension="total", grain="day")
    assert total.views == 1
    told = [one for one in caplog.records if "cannot be aggregated" in one.message]
    assert {one.levelno for one in told} == {logging.ERROR}
    assert len(told) == len(paths)
