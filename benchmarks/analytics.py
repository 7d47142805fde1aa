"""Analytics: taking views and clicks in, adding them up, and reports over millions of them."""

from __future__ import annotations

import argparse
from typing import Final

from benchmarks import analytics_months, analytics_reports, analytics_rows, analytics_taking

SEEDED: Final = 1_500
"""Of these the published ones have visitors."""


def measure(url: str, options: argparse.Namespace) -> None:
    posts = analytics_rows.make_posts()
    if options.only in "taking":
        analytics_taking.show(
            analytics_taking.measure(
                url, posts, options.rounds, options.seconds, options.connections, options.workers
            )
        )
    if options.only in "reports":
        analytics_reports.measure(posts, options.rows, options.rounds)
        analytics_months.measure()
