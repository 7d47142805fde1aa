"""Events are added up once each: in any pieces, in any order, whoever is killed when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analytics.figures.adding import add_up
from analytics.figures.months import close_months
from analytics.figures.reading import read
from analytics.figures.tallies import tally
from analytics.models import AnalyticsEvent, HeatCell, HeatSheet, PostCount, RollUp, SiteCount
from tests.analytics import naive

pytestmark = pytest.mark.django_db

POSTS = [UUID(int=n) for n in (1, 2, 3)]
MODULES = [str(UUID(int=n)) for n in (77, 78)]
GOALS = ["", "hero", "form:contact"]
BEGIN = datetime(2026, 1, 30, 23, 30, tzinfo=UTC)


@st.composite
def events(draw: st.DrawFn) -> AnalyticsEvent:
    """An event as it is stored after tracking has taken it."""
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
    for model in (AnalyticsEvent, SiteCount, PostCount, HeatCell, HeatSheet, RollUp):
        model.objects.all().delete()
    for row in rows:
        row.pk = None
    AnalyticsEvent.objects.bulk_create(rows)


def same_as_counted_plainly() -> None:
    """Says only what differs."""
    for held, right in zip(naive.stored(), naive.counted(), strict=True):
        assert set(held.items()) - set(right.items()) == set()
        assert set(right.items()) - set(held.items()) == set()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(events(), max_size=25),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
)
def test_law_figures_are_those_of_a_plain_count_however_the_events_are_divided(
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


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_law_the_order_of_events_does_not_matter(data: st.DataObject) -> None:
    keep(data.draw(st.lists(events(), max_size=25)))
    rows = read(0, 2**60, 100)

    other = data.draw(st.permutations(rows))

    assert tally(rows) == tally(other)
