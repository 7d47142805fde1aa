"""Aggregation, summaries and heatmaps over many events, next to the same queries on the raw events."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from statistics import median
from typing import Final
from uuid import UUID

from django.db import connection

from analytics.experiments.evaluation import count_arms
from analytics.models import AnalyticsEvent, HeatBatch, HeatSheet, PostCount, SiteCount
from analytics.periods import Period
from analytics.rollups.aggregate import add_up, close_months
from analytics.rollups.heatmaps import HeatmapSpec, module_clicks, page_heatmap
from analytics.rollups.merge_batches import merge_batches
from analytics.rollups.summaries import summarize
from analytics.services.track import Seen, record_events
from benchmarks import analytics_fill, analytics_rows, analytics_taking
from benchmarks import analytics_raw as raw
from benchmarks.cpu import Spent, measure_cpu
from benchmarks.report import Report
from benchmarks.sizes import Sizes
from proofroom.core.actor import SYSTEM

ASKED_FROM: Final = 1_000_000
FIGURES: Final = (SiteCount, PostCount, HeatSheet, HeatBatch)
_OF_SHEET: Final = ("post_id", "event_type", "module_id", "device", "version")
STEPS: Final = (100_000, 1_000_000, 10_000_000)
"""Numbers of rows at which the cost of one more event is measured."""
_CALL: Final = 100
_COUNTED: Final = (
    "CREATE TABLE IF NOT EXISTS bench_counted (day date, post_id uuid, views bigint, clicks bigint)"
)
_COUNT_BARE: Final = """
    INSERT INTO bench_counted
    SELECT (created_at AT TIME ZONE 'UTC')::date, post_id, count(*) FILTER (WHERE event_type = 'view'),
        count(*) FILTER (WHERE event_type = 'click')
    FROM analytics_analyticsevent WHERE id > %s GROUP BY 1, 2
"""
LAST: Final = analytics_rows.END.date() - timedelta(days=1)
MONTH: Final = Period(LAST - timedelta(days=29), LAST)
YEAR: Final = Period(LAST - timedelta(days=364), LAST)
ALL: Final = Period(analytics_rows.START.date(), LAST)


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of one query: milliseconds of the report, and of the same query on the events."""

    name: str
    report: float
    events: float


def measure(posts: Sequence[str], sizes: Sizes, report: Report) -> None:
    rows = sizes.rows
    arm, done = str(UUID(int=1, version=4)), 0
    analytics_rows.make_months()
    for step in [sizes.analytics_chunk, *(step for step in STEPS if step < rows), rows]:
        begin = time.perf_counter()
        analytics_rows.make(done + 1, step, rows, arm)
        report.say(f"{step:,} events, {time.perf_counter() - begin:.0f} s to make.")
        _fill(step, sizes, report)
        _cost(posts, sizes, report)
        done = step
        if step >= ASKED_FROM or step == rows:
            _show_sizes(report)
            _show(_questions(posts, sizes.rounds), step, report)


def _fill(step: int, sizes: Sizes, report: Report) -> None:
    """Aggregate the last events by the product, the earlier ones by SQL, which takes minutes instead of hours.

    For the first step, aggregate all events by both and compare the results.
    """
    chunk = sizes.analytics_chunk
    last = AnalyticsEvent.objects.order_by("-id").values_list("id", flat=True)[0]
    if step == chunk:
        _add_up(chunk)
        close_months(analytics_fill.moment_of(last))
        by_product = _figures()
    _forget_figures()
    begin = time.perf_counter()
    analytics_fill.fill(last if step == chunk else last - sizes.analytics_added)
    filled = time.perf_counter() - begin
    if step == chunk:
        if _figures() != by_product:
            raise SystemExit("The benchmark's figures differ from the product's.")
        return
    added = _add_up(chunk)
    close_months(analytics_rows.END)
    merge_batches(analytics_rows.END)
    report.say(
        f"Figures of them: {filled:.0f} s by SQL alone; "
        f"the last {sizes.analytics_added:,} added up in {_each(added, sizes.analytics_added)} each."
    )


def _figures() -> list[set[tuple[object, ...]]]:
    """Return all aggregates. Clicks are identified by their sheet's columns, because its id differs between runs."""
    found = []
    for model in (SiteCount, PostCount):
        names = [field.attname for field in model._meta.concrete_fields if field.name != "id"]
        found.append(set(model._default_manager.values_list(*names)))
    hits = Counter[tuple[object, ...]]()
    of_sheet = [f"sheet__{name}" for name in _OF_SHEET]
    for *key, cells in HeatBatch.objects.values_list(*of_sheet, "day", "cells"):
        hits.update((*key, cell) for cell in cells)
    found.append({(*key, number) for key, number in hits.items()})
    return found


def _forget_figures() -> None:
    with connection.cursor() as cursor:
        for model in FIGURES:
            cursor.execute(f"TRUNCATE {model._meta.db_table}")


def _add_up(chunk: int) -> Spent:
    return measure_cpu(lambda: sum(iter(lambda: add_up(chunk), 0)))


def _each(spent: Spent, count: int) -> str:
    one = 1_000_000 / count
    return (
        f"{spent.wall * one:.0f} µs ({spent.cpu * one:.0f} of CPU, "
        f"{spent.database * one:.0f} of it the database's)"
    )


def _cost(posts: Sequence[str], sizes: Sizes, report: Report) -> None:
    """Measure one more event: recording by the service in calls of 100, and aggregating, at this table size."""
    calls = [
        [
            Seen(
                event_type=event["eventType"], post_id=UUID(event["postId"]), x=event.get("x"),
                y=event.get("y"), viewport_width=event["viewportWidth"], metadata=event["metadata"],
            )
            for event in analytics_taking.events(_CALL, posts, number)
        ]
        for number in range(sizes.analytics_probe // _CALL)
    ]  # fmt: skip
    last = AnalyticsEvent.objects.order_by("-id").values_list("id", flat=True)[0]
    taken = measure_cpu(lambda: [record_events(seen=seen) for seen in calls])
    bare = measure_cpu(lambda: _count_bare(last))
    added = _add_up(sizes.analytics_chunk)
    report.ratios["adding up"] = added.cpu / bare.cpu
    report.say(
        f"One more event: taken in {_each(taken, sizes.analytics_probe)}; "
        f"added up in {_each(added, sizes.analytics_probe)}, "
        f"{sizes.analytics_probe / added.cpu:,.0f} events a second on one core, "
        f"{added.cpu / bare.cpu:.1f} times the CPU of views and clicks of each post and day alone."
    )


def _count_bare(after: int) -> None:
    """Aggregate in the cheapest way: one statement into one table without an index."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED)
        cursor.execute(_COUNT_BARE, [after])


def _show_sizes(report: Report) -> None:
    rows = []
    for model in (AnalyticsEvent, *FIGURES):
        name = model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(%s::regclass)",
                [name],
            )
            size = cursor.fetchone()[0]
            if size is None:
                cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [name])
                size = cursor.fetchone()[0]
            cursor.execute(f"VACUUM ANALYZE {name}")
        rows.append((name, f"{model._default_manager.count():,}", f"{size / 1024**2:,.0f}"))
    report.show_table(("table", "rows", "MB"), rows)


def _questions(posts: Sequence[str], rounds: int) -> list[Asked]:
    hottest, tested, rare = UUID(posts[0]), UUID(posts[1]), UUID(posts[-1])
    found = []
    for name, period, post in (
        ("summary, 30 days", MONTH, None),
        ("summary, a year", YEAR, None),
        ("summary of the hottest post, 30 days", MONTH, hottest),
        ("summary of the hottest post, a year", YEAR, hottest),
        ("summary of a rare post, a year", YEAR, rare),
    ):
        ways = (partial(summarize, period, post, SYSTEM), partial(raw.summary, period, post))
        found.append(_asked(name, rounds, *ways))
    for name, asked in (
        ("heatmap of the hottest post, 13 months", HeatmapSpec(hottest, ALL)),
        ("heatmap, 30 days", HeatmapSpec(hottest, MONTH)),
        ("heatmap, a year, phones", HeatmapSpec(hottest, YEAR, device="mobile")),
        ("heatmap, a year, one version", HeatmapSpec(hottest, YEAR, versions=(3, 4))),
    ):
        both = (partial(page_heatmap, asked), partial(raw.heatmap, asked))
        found.append(_asked(name, rounds, *both))
    whole = HeatmapSpec(hottest, ALL)
    modules = (partial(module_clicks, whole), partial(raw.modules, whole))
    found.append(_asked("clicks by module, 13 months", rounds, *modules))
    arms = (partial(count_arms, tested, YEAR), partial(raw.arms, tested, YEAR))
    found.append(_asked("arms of a test, a year", rounds, *arms))
    return found


def _asked(
    name: str, rounds: int, report: Callable[[], object], raw: Callable[[], object]
) -> Asked:
    report()
    times = [(_milliseconds(report), _milliseconds(raw)) for _ in range(rounds)]
    return Asked(name, median(one for one, _ in times), median(other for _, other in times))


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begin)


def _show(found: Sequence[Asked], rows: int, report: Report) -> None:
    report.show_table(
        (f"question, over {rows:,} events", "report ms", "from the events ms", "times as long"),
        [
            (one.name, f"{one.report:.1f}", f"{one.events:,.0f}", f"{one.events / one.report:,.1f}")
            for one in found
        ],
    )
