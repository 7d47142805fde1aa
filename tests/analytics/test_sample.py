"""The figures of the demo: marked, created once, and deterministic."""

from __future__ import annotations

import pytest

from analytics import sample
from analytics.experiments.evaluation import count_arms, evaluate_trial
from analytics.models import AnalyticsEvent
from analytics.periods import read_period
from analytics.rollups.aggregate import catch_up
from content.models import Post
from proofroom.core.actor import SYSTEM
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def test_a_demo_has_weeks_of_marked_visits_and_a_test_that_runs() -> None:
    make.post("Other", slug="other")
    post = make.post("Services", type="page", slug="services")

    sample.seed(actor=make.actor("editor", via="command"))
    made = AnalyticsEvent.objects.count()
    sample.seed(actor=make.actor("editor", via="command"))

    events = AnalyticsEvent.objects.all()
    assert events.count() == made > 1_000
    assert {event.metadata.get("sample") for event in events} == {True}
    arm = post.variations.get()
    assert (arm.variation, arm.variation_running) == ("B", True)
    catch_up()
    found = count_arms(post.pk, read_period({}), "form:contact")
    assert [figures.post_id for figures in found] == [post.pk, arm.pk]
    assert all(figures.views > figures.conversions > 0 for figures in found)
    assert evaluate_trial(post_id=post.pk, who=SYSTEM, params={}).doubts == []


@pytest.mark.parametrize("case", ["no page", "somebody was here"])
def test_nothing_is_made_up_where_it_does_not_belong(case: str) -> None:
    if case == "somebody was here":
        make.post("Services", type="page", slug="services")
        body = {"eventType": "view"}
        ApiClient().write("POST", "/api/public/analytics/track", body)
    before = AnalyticsEvent.objects.count()

    sample.seed(actor=make.actor("editor", via="command"))

    assert AnalyticsEvent.objects.count() == before
    assert not Post.objects.filter(variation_of__isnull=False).exists()
