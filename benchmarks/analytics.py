"""Analytics: taking views and clicks in, adding them up, and reports over millions of them."""

from __future__ import annotations

from benchmarks import analytics_months, analytics_reports, analytics_rows, analytics_taking
from benchmarks.report import Report
from benchmarks.sizes import Sizes


def measure(url: str, sizes: Sizes, only: str, report: Report) -> None:
    """Of the seeded posts, those that are published have visitors."""
    posts = analytics_rows.make_posts()
    if only in "taking":
        analytics_taking.show(analytics_taking.measure(url, posts, sizes), report)
    if only in "reports":
        analytics_reports.measure(posts, sizes, report)
        report.say(analytics_months.measure())
