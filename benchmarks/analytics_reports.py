"""Adding up, summaries and heatmaps over many events, beside the same questions asked of the events."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import analytics_rows


def measure(posts: Sequence[str], rows: int, rounds: int) -> None:
    analytics_rows.make(1, rows, rows, posts[0])
