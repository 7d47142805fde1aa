"""Events are added up exactly once: in any chunks, in any order, with processes killed at any time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analytics.models import AnalyticsEvent, HeatBatch, HeatSheet, PostCount, RollUp, SiteCount
from analytics.rollups.aggregate import add_up, close_months
from analytics.rollups.rollup_sql import dialect, read_chunk, sum_chunk
from tests.analytics import naive
from tests.analytics.heat_cells import stored_cells

pytestmark = pytest.mark.django_db

POSTS = [UUID(int=n) for n in (1, 2, 3)]
MODULES = [str(UUID(int=n)) for n in (77, 78)]
GOALS = ["", "hero", "form:contact"]
BEGIN = datetime(2026, 1, 30, 23, 30, tzinfo=UTC)


@st.composite
def events(draw: st.DrawFn) -> AnalyticsEvent:
    """Strategy for stored events."""
    kind = draw(st.sampled_from(["view", "click"]))
    post = draw(st.sampled_from([None, *POSTS]))
    said: dict[str, Any] = {"path": "/en/x"}
    event = AnalyticsEvent(event_type=kind, post_id=post, metadata=said)
    event.created_at = BEGIN + timedelta(hours=draw(st.integers(0, 60)))
    event.locale = draw(st.sampled_from(["en", "de", ""]))
    if kind == "view":
        said["referrer"] = draw(st.sampled_from(["", "a.example", "news.b.example"]))
    else:
        event.goal = draw(st.sampled_from(GOALS))
    if post is not None:
        event.variation_of = draw(st.sampled_from([None, POSTS[0], post]))
        event.version = draw(st.sampled_from([None, 1, 2]))
        if draw(st.booleans()):
            said["postModuleId"] = draw(st.sampled_from(MODULES))
    if not event.goal.startswith("form:"):
        event.viewport_width = draw(st.sampled_from([None, 390, 767, 768, 1099, 1100, 3000]))
        if draw(st.booleans()):
            event.x, event.y = (
                draw(st.sampled_from([0.0, 12.5, 389.0, 5e5])),
                draw(st.sampled_from([0.0, 99.9, 1e6])),
            )
        if draw(st.booleans()):
            said["moduleX"] = draw(st.sampled_from([0, 0.5, 0.999, 1]))
            said["moduleY"] = draw(st.sampled_from([0, 0.25, 1]))
    return event


def keep(rows: list[AnalyticsEvent]) -> None:
    for model in (AnalyticsEvent, SiteCount, PostCount, HeatBatch, HeatSheet, RollUp):
        model.objects.all().delete()
    for row in rows:
        row.pk = None
    AnalyticsEvent.objects.bulk_create(rows)


def same_as_counted_plainly() -> None:
    """Compare with naive counting, and report only the differences."""
    for held, right in zip(naive.stored(), naive.counted(), strict=True):
        assert set(held.items()) - set(right.items()) == set()
        assert set(right.items()) - set(held.items()) == set()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(events(), max_size=25),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
)
def test_law_figures_equal_a_plain_count_for_any_division(
    rows: list[AnalyticsEvent], limits: list[int], months: list[int]
) -> None:
    keep(rows)
    counted = turn = 0

    while added := add_up(limits[turn % len(limits)]):
        counted += added
        close_months(datetime(2026, months[turn % len(months)], 5, tzinfo=UTC))
        turn += 1

    assert counted == len(rows)
    same_as_counted_plainly()


def test_what_pages_made_up_stops_no_counting() -> None:
    module = {"postModuleId": MODULES[0].upper()}
    said: list[dict[str, Any]] = [
        {**module, "moduleX": x, "moduleY": y}
        for x, y in (("0.5", 0.5), (True, 0.5), (-1, 0.5), (0.5, 2), (10**400, 0.5), ([], {}))
    ]
    said += [{**module, "moduleX": 1e-300, "moduleY": 0.29}, {"postModuleId": ["a"], "moduleX": 0}]
    clicks = [
        AnalyticsEvent(event_type="click", post_id=POSTS[0], metadata=one, created_at=BEGIN)
        for one in said
    ]
    clicks[-1].x, clicks[-1].y, clicks[-1].viewport_width = 1e308, 1e308, 1
    hosts = ["News.Example:80%s", "<b>", "x" * 500, 5, {"a.b": 1}, None, "\u202e.example"]
    views = [
        AnalyticsEvent(event_type="view", metadata={"referrer": host}, created_at=BEGIN)
        for host in hosts
    ]
    keep([*clicks, *views])

    assert add_up(100) == 15

    of_pages = SiteCount.objects.filter(dimension="referrer").order_by("value")
    assert list(of_pages.values_list("value", "views")) == [("", 6), ("news.example", 1)]
    of_post = PostCount.objects.filter(dimension="module").values_list("value", "clicks")
    assert list(of_post) == [(MODULES[0], 7)]
    assert {key[-3:]: sums for key, sums in stored_cells().items()} == {
        (MODULES[0], 0, 1_000): (6, 0, 0),
        (MODULES[0], 0, 28): (1, 0, 290),
        ("", 99, 4_999): (1, 10_000, 500_000),
    }


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL joins by a hash")
def test_many_sites_that_visitors_come_from_are_found_by_an_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute(read_chunk(dialect()), {"after": 0, "to": 9, "since": "1970", "limit": 9})
        cursor.execute(f"EXPLAIN QUERY PLAN {sum_chunk(dialect())}", {"hosts": "{}"})
        plan = [row[3] for row in cursor.fetchall()]

    assert "SEARCH hosts USING AUTOMATIC COVERING INDEX (given=?) LEFT-JOIN" in plan
