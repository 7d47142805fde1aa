"""Heatmaps of pages and modules. They read figures only: call `catch_up` before."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from analytics.models import HeatSheet
from analytics.periods import Period
from analytics.rollups.heat_batches import (
    BATCHES,
    HITS_SUM,
    MODULE_SIDE,
    NO_POSITION,
    PAGE_ALONE,
    PAGE_OF_MODULES,
    PAGE_SIDE,
    PLACE,
    ROW_BITS,
    SUMS,
)
from analytics.rollups.rollup_sql import dialect
from content.document.labels import module_names
from content.models import Post, Revision
from content.store import post_repository

MAX_SPOTS: Final = 5_000
MAX_MODULES: Final = 200
Side = Literal["before", "after"]
Versions = tuple[int | None, int | None]
"""The first version, and the end (excluded); None is open."""


@dataclass(frozen=True, slots=True)
class HeatmapSpec:
    """The events of a heatmap. `versions`: versions of the live content seen by visitors."""

    post_id: UUID
    period: Period
    event_type: str = "click"
    device: str | None = None
    versions: Versions = (None, None)


@dataclass(frozen=True, slots=True)
class Spot:
    """The mean position of the events in one cell.

    Of a page, `x` is a part of its width and `y` pixels of a page 1,000 pixels wide. Of a module,
    both are parts of its box.
    """

    x: float
    y: float
    count: int


@dataclass(frozen=True, slots=True)
class Heatmap:
    """The most hit spots. `max`: hits of the first; `total`: hits of all, including spots beyond the limit."""

    spots: list[Spot]
    max: int
    total: int
    grid: int = 10


@dataclass(frozen=True, slots=True)
class ModuleClicks:
    """A module and its number of clicks. `clicks` includes clicks without a position, `spots` does not."""

    post_module_id: str
    label: str
    type: str
    """Empty if the module is gone."""
    is_gone: bool
    clicks: int
    spots: list[Spot]


def versions_beside(revision: Revision, side: Side) -> Versions:
    """Return the versions visitors saw before or after a revision. One statement.

    After: from this revision until the next. Before: from the previous one until this.
    """
    others = Revision.objects.filter(post_id=revision.post_id)
    if side == "after":
        later = others.filter(version__gt=revision.version).order_by("version")
        return revision.version, later.values_list("version", flat=True).first()
    earlier = others.filter(version__lt=revision.version).order_by("-version")
    return earlier.values_list("version", flat=True).first(), revision.version


def page_heatmap(query: HeatmapSpec, *, without_modules: bool = False) -> Heatmap:
    """Return the heatmap of a page. One statement.

    `without_modules` omits hits with a position in a module, which `module_clicks` returns.
    """
    kinds = [PAGE_ALONE] if without_modules else [PAGE_ALONE, PAGE_OF_MODULES]
    sheets = _sheets(query).filter(module_id__in=kinds)
    # A window function: each row repeats the total of all cells, including those beyond the limit.
    total = f"CAST(sum({HITS_SUM}) OVER () AS bigint)"
    found = _read_cells(
        query,
        sheets,
        f"SELECT {PLACE} AS place, {SUMS}, {total} AS total FROM hit "  # noqa: S608  # names of our own
        "GROUP BY place ORDER BY hits DESC, place LIMIT %s",
        MAX_SPOTS,
    )
    spots = [
        _spot(place, hits, along, deep, PAGE_SIDE, 10_000, 10)
        for place, hits, along, deep, _total in found
    ]
    return Heatmap(spots, spots[0].count if spots else 0, found[0][-1] if found else 0)


def module_clicks(query: HeatmapSpec) -> list[ModuleClicks]:
    """Return modules by number of clicks, with their spots, most clicked first."""
    of_modules = _sheets(query).exclude(module_id__in=[PAGE_ALONE, PAGE_OF_MODULES])
    ranked = _read_cells(
        query,
        of_modules,
        f"SELECT module_id, {HITS_SUM} AS hits FROM hit "  # noqa: S608  # names of our own
        "GROUP BY module_id ORDER BY hits DESC, module_id LIMIT %s",
        MAX_MODULES,
    )
    if not ranked:
        return []
    rows = _read_cells(
        query,
        of_modules.filter(module_id__in=[id_ for id_, _ in ranked]),
        f"SELECT module_id, {PLACE} AS place, {SUMS} FROM hit WHERE {PLACE} <> {NO_POSITION << ROW_BITS} "  # noqa: S608  # as above
        "GROUP BY module_id, place ORDER BY hits DESC, module_id, place LIMIT %s",
        MAX_SPOTS,
    )
    spots: dict[str, list[Spot]] = defaultdict(list)
    for id_, place, hits, along, deep in rows:
        spots[id_].append(_spot(place, hits, along, deep, MODULE_SIDE, 1_000, 1_000))
    labels: dict[str, str] = {}
    types: dict[str, str] = {}
    post = Post.objects.filter(pk=query.post_id).first()
    if post is not None:
        document = post_repository.load(post)
        labels = module_names(document)
        types = {module.id: module.type for module in document.modules}
    return [
        ModuleClicks(
            post_module_id=id_,
            label=labels.get(id_, "A module that is gone"),
            type=types.get(id_, ""),
            is_gone=id_ not in types,
            clicks=hits,
            spots=spots[id_],
        )
        for id_, hits in ranked
    ]


def _sheets(query: HeatmapSpec) -> QuerySet[HeatSheet]:
    sheets = HeatSheet.objects.filter(post_id=query.post_id, event_type=query.event_type)
    if query.device is not None:
        sheets = sheets.filter(device=query.device)
    first, end = query.versions
    if first is not None:
        sheets = sheets.filter(version__gte=first)
    return sheets if end is None else sheets.filter(version__lt=end)


def _read_cells(
    query: HeatmapSpec, sheets: QuerySet[HeatSheet], select: str, limit: int
) -> list[tuple[Any, ...]]:
    """Return the rows of a SELECT from `hit`, which has each packed number (`cell`) of the sheets with
    its `module_id`.
    """
    sheets_sql, values = sheets.values("id", "module_id").query.sql_with_params()
    of_days = f"sheet JOIN {BATCHES} AS batch ON batch.sheet_id = sheet.id AND batch.day BETWEEN %s AND %s"
    hits = dialect().unlisted.format("module_id", of_days)
    days = map(connection.ops.adapt_datefield_value, (query.period.first, query.period.last))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH sheet (id, module_id) AS ({sheets_sql}), hit AS ({hits}) {select}",
            [*values, *days, limit],
        )
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _spot(place: int, hits: int, along: int, deep: int, side: int, width: int, height: int) -> Spot:
    """Return the mean position, from the sums of the distances to the edges of the cell."""
    down, across = divmod(place, 1 << ROW_BITS)
    x, y = across * side * hits + along, down * side * hits + deep
    return Spot(round(x / hits / width, 4), round(y / hits / height, 4), hits)
