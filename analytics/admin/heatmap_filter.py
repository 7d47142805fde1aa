"""The filter of a heatmap's page, read from its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from analytics.models import EventType
from analytics.rollups.periods import Period, read_period
from content.models import Post, Revision
from proofroom.core.errors import RuleViolation
from proofroom.editorial.posts.revisions import find_revision

WIDTHS: Final[Mapping[str, int]] = {"all": 1280, "mobile": 390, "tablet": 820, "desktop": 1280}
"""How wide the page is shown for each class of devices."""
DEVICES: Final = {
    "all": _("All"),
    "mobile": _("Phone"),
    "tablet": _("Tablet"),
    "desktop": _("Desktop"),
}
EVENTS: Final = {EventType.CLICK.value: _("Clicks"), EventType.VIEW.value: _("Views")}
SIDES: Final = {"before": _("Before"), "after": _("After"), "both": _("Side by side")}
SPANS: Final = {7: _("7 days"), 30: _("30 days"), 90: _("90 days")}
_USUAL_DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class HeatFilter:
    """Of which visits the heatmap is. `days` is 0 where the period is of its own; `problem` says why it is not."""

    device: str
    event: str
    days: int
    own: Period | None
    revision: Revision | None
    side: str
    problem: str = ""

    @property
    def width(self) -> int:
        return WIDTHS[self.device]

    def query(self, **other: str) -> str:
        """The address of this page with some of it otherwise."""
        values = {
            "viewport": self.device,
            "eventType": self.event,
            **self._dates(),
            **({"revisionId": str(self.revision.pk), "side": self.side} if self.revision else {}),
        }
        if "days" in other:
            values = {name: value for name, value in values.items() if name not in ("from", "to")}
        return "?" + urlencode(values | other)

    def _dates(self) -> dict[str, str]:
        if self.own is not None:
            return {"from": str(self.own.first), "to": str(self.own.last)}
        return {"days": str(self.days)}

    def period(self, side: str = "") -> Period:
        """The days of one side: those up to the approval, or from it on; without one the last days."""
        if self.own is not None:
            return self.own
        last, days = today(), timedelta(days=self.days - 1)
        if self.revision is None:
            return Period(last - days, last)
        turn = self.revision.created_at.astimezone(UTC).date()
        return (
            Period(turn - days, turn) if side == "before" else Period(turn, min(turn + days, last))
        )


def today() -> date:
    return timezone.now().astimezone(UTC).date()


def read_filter(request: HttpRequest, post: Post) -> HeatFilter:
    """Return what is asked for; what is unknown is the usual. Raises `Http404` for a revision of another post."""
    asked = {name: str(value) for name, value in request.GET.items() if value}
    own, problem = _own_period(asked)
    revision_id, days = asked.get("revisionId", ""), asked.get("days", "")
    known_days = {str(span): span for span in SPANS}
    return HeatFilter(
        device=_known(asked, "viewport", DEVICES, "all"),
        event=_known(asked, "eventType", EVENTS, EventType.CLICK.value),
        days=0 if own else known_days.get(days, _USUAL_DAYS),
        own=own,
        revision=find_revision(post, revision_id) if revision_id else None,
        side=_known(asked, "side", SIDES, "both"),
        problem=problem,
    )


def _own_period(asked: Mapping[str, str]) -> tuple[Period | None, str]:
    if "from" not in asked and "to" not in asked:
        return None, ""
    try:
        return read_period(asked), ""
    except RuleViolation as error:
        return None, error.message


def _known(asked: Mapping[str, str], name: str, known: Mapping[str, object], usual: str) -> str:
    value = asked.get(name, usual)
    return value if value in known else usual
