"""The doctor's check that figures keep up with what visitors do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from analytics.models import RollUp
from analytics.rollups.aggregate import is_waiting
from proofroom.core.diagnostics.doctor import CheckResult

LATE_AFTER: Final = timedelta(minutes=10)
_ADVICE: Final = gettext_noop(
    "start the worker and the scheduler; until then, reports catch up a little "
    "each time they are opened"
)


def figures() -> Iterator[CheckResult]:
    """Yield whether views and clicks wait to be added up for longer than the scheduler takes."""
    counted_at = RollUp.objects.values_list("counted_at", flat=True).first()
    if not is_waiting():
        yield CheckResult("ok", "analytics", "every view and click is added up")
    elif counted_at is None:
        yield CheckResult("warn", "analytics", _("no views or clicks counted yet"), _(_ADVICE))
    elif timezone.now() - counted_at > LATE_AFTER:
        minutes = (timezone.now() - counted_at) // timedelta(minutes=1)
        behind = _("analytics is %(n)s minutes behind") % {"n": f"{minutes:,}"}
        yield CheckResult("warn", "analytics", behind, _(_ADVICE))
    else:
        yield CheckResult("ok", "analytics", "the last views and clicks are about to be added up")
