"""Views of the last 30 days, beside those of the 30 days before."""

from __future__ import annotations

from dataclasses import dataclass

from analytics.admin.charts import Chart, ChartPeriod, chart
from analytics.rollups.periods import read_period
from analytics.rollups.report_types import Totals
from analytics.rollups.summaries import over_time


@dataclass(frozen=True, slots=True)
class Views:
    """`percent` is what came on top of the period before, None where there was nothing then."""

    chart: Chart
    total: int
    before: int
    percent: int | None

    @property
    def is_down(self) -> bool:
        return self.total < self.before

    @property
    def is_empty(self) -> bool:
        return not (self.total or self.before)


def views() -> Views:
    """Two queries."""
    period = read_period({})
    now, then = over_time(period, None), over_time(period.before(), None)
    stretches = [
        ChartPeriod(
            moment.date,
            moment.date,
            Totals(moment.views, moment.clicks, moment.conversions),
            Totals(then[place].views) if place < len(then) else None,
        )
        for place, moment in enumerate(now)
    ]
    total, before = sum(one.views for one in now), sum(one.views for one in then)
    percent = round(abs(total - before) * 100 / before) if before else None
    return Views(chart("views", stretches), total, before, percent)
