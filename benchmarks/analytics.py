"""Analytics: recording views and clicks, aggregating them, and reports over millions of events."""

from __future__ import annotations

from benchmarks import analytics_months, analytics_reports, analytics_rows, analytics_taking
from benchmarks.report import Report
from benchmarks.sizes import Sizes


def measure(url: str, sizes: Sizes, only: str, report: Report) -> None:
    """Measure both parts. Visitors view the published ones of the seeded posts."""
    posts = analytics_rows.make_posts()
    if only in "taking":
        analytics_taking.show(analytics_taking.measure(url, posts, sizes), report)
    if only in "reports":
        analytics_reports.measure(posts, sizes, report)
        report.say(analytics_months.measure())
