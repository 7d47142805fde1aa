"""The doctor's check of late figures."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from analytics.models import AnalyticsEvent, RollUp
from analytics.rollups.aggregate import add_all
from proofroom.core.diagnostics.doctor import CheckResult, examine

pytestmark = pytest.mark.django_db

ADVICE = (
    "start the worker and the scheduler; until then, reports catch up a little each time "
    "they are opened"
)


def said() -> list[tuple[str, str, str]]:
    found: list[CheckResult] = [one for one in examine() if one.subject == "analytics"]
    return [(one.level, one.found, one.advice) for one in found]


def test_it_warns_only_where_events_wait_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    from analytics import health

    # Other checks need services that are not running here.
    monkeypatch.setattr("proofroom.core.diagnostics.doctor.CHECKS", ())
    empty = said()
    AnalyticsEvent.objects.create(event_type="view")
    never = said()
    add_all(60)
    counted = said()
    AnalyticsEvent.objects.create(event_type="view")
    soon = said()
    RollUp.objects.update(counted_at=timezone.now() - health.LATE_AFTER - timedelta(minutes=2))
    late = said()

    assert empty == counted == [("ok", "every view and click is added up", "")]
    assert never == [("warn", "no views or clicks counted yet", ADVICE)]
    assert soon == [("ok", "the last views and clicks are about to be added up", "")]
    assert late == [("warn", "analytics is 12 minutes behind", ADVICE)]
