"""The doctor's checks of the analytics figures and the scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from analytics.models import RollUp
from analytics.rollups.aggregate import is_waiting
from proofroom.core.diagnostics.doctor import CheckResult
from proofroom.core.observability.metrics import MetricReading

LATE_AFTER: Final = timedelta(minutes=10)
SWEPT_WITHIN: Final = timedelta(minutes=3)
"""The scheduler adds figures up every 30 seconds, each time for at most 25 seconds."""
_ADVICE: Final = gettext_noop(
    "start the worker and the scheduler; until then, reports catch up a little "
    "each time they are opened"
)


def figures() -> Iterator[CheckResult]:
    """Check whether views and clicks are added up in time."""
    counted_at = RollUp.objects.values_list("counted_at", flat=True).first()
    if not is_waiting():
        yield CheckResult("ok", "analytics", _("every view and click is added up"))
    elif counted_at is None:
        yield CheckResult("warn", "analytics", _("no views or clicks counted yet"), _(_ADVICE))
    elif timezone.now() - counted_at > LATE_AFTER:
        minutes = (timezone.now() - counted_at) // timedelta(minutes=1)
        behind = _("analytics is %(n)s minutes behind") % {"n": f"{minutes:,}"}
        yield CheckResult("warn", "analytics", behind, _(_ADVICE))
    else:
        soon = _("the last views and clicks are about to be added up")
        yield CheckResult("ok", "analytics", soon)


def scheduler() -> Iterator[CheckResult]:
    """Check the time of the last sweep, which the scheduler starts even without new events."""
    age = _last_sweep_age()
    if age is None:
        yield CheckResult("ok", "scheduler", _("no sweep yet"))
        return
    seconds = age // timedelta(seconds=1)
    if age > SWEPT_WITHIN:
        found = ngettext(
            "the last sweep was %(n)s second ago", "the last sweep was %(n)s seconds ago", seconds
        ) % {"n": f"{seconds:,}"}
        yield CheckResult("warn", "scheduler", found, _("start the worker and the scheduler"))
    else:
        found = _("last sweep %(n)s seconds ago") % {"n": seconds}
        yield CheckResult("ok", "scheduler", found)


def read_sweep_metrics() -> Iterator[MetricReading]:
    """Yield the age of the last sweep, if there was one. One query."""
    age = _last_sweep_age()
    if age is not None:
        yield MetricReading(
            "proofroom_last_sweep_age_seconds",
            "Time since figures were last added up, which the scheduler asks for every 30 seconds.",
            age.total_seconds(),
        )


def _last_sweep_age() -> timedelta | None:
    swept_at = RollUp.objects.values_list("counted_at", flat=True).first()
    return None if swept_at is None else max(timedelta(0), timezone.now() - swept_at)
