"""Heatmaps: where a page and its modules were hit. They read figures: call `catch_up` before."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from django.db.models import BigIntegerField, F, Func, QuerySet, Sum, Window

from analytics.models import HeatCell
from analytics.rollups.periods import Period
from analytics.rollups.rollup_sql import NO_POSITION, PAGE_ALONE, PAGE_OF_MODULES
from content.models import Post, Revision
from content.posts import post_repository
from content.review.labels import module_names

MAX_SPOTS: Final = 5_000
MAX_MODULES: Final = 200
Side = Literal["before", "after"]
Versions = tuple[int | None, int | None]
"""The first, and the one past the last; None is open."""


@dataclass(frozen=True, slots=True)
class HeatmapSpec:
    """The events of a heatmap. `versions` are those of the live content that visitors saw."""

    post_id: UUID
    period: Period
    event_type: str = "click"
    device: str | None = None
    versions: Versions = (None, None)


@dataclass(frozen=True, slots=True)
class Spot:
    """The mean place of the events of one cell.

    Of a page, `x` is a part of its width and `y` pixels of a page 1,000 pixels wide. Of a module, both are parts of
    its box.
    """

    x: float
    y: float
    count: int


@dataclass(frozen=True, slots=True)
class Heatmap:
    """The spots that were hit most. `max` is the count of the first, `total` that of all, shown or not."""

    spots: list[Spot]
    max: int
    total: int
    grid: int = 10


@dataclass(frozen=True, slots=True)
class ModuleClicks:
    """A module by how often it was clicked. `clicks` counts those without a place too, `spots` those with one."""

    post_module_id: str
    label: str
    type: str
    """Empty where the module is gone."""
    is_gone: bool
    clicks: int
    spots: list[Spot]


class _SumOfSums(Func):
    """A sum of sums, over all groups: `Sum` takes no sums."""

    function = "SUM"
    window_compatible = True
    output_field = BigIntegerField()


def versions_beside(revision: Revision, side: Side) -> Versions:
    """Return the versions that visitors saw before or after a revision. One statement.

    After: from this revision until the next. Before: from the one before until this.
    """
    others = Revision.objects.filter(post_id=revision.post_id)
    if side == "after":
        later = others.filter(version__gt=revision.version).order_by("version")
        return revision.version, later.values_list("version", flat=True).first()
    earlier = others.filter(version__lt=revision.version).order_by("-version")
    return earlier.values_list("version", flat=True).first(), revision.version


def page_heatmap(query: HeatmapSpec, *, without_modules: bool = False) -> Heatmap:
    """Return where a page was hit. One statement.

    `without_modules` leaves out what `module_clicks` has a place for.
    """
    kinds = [PAGE_ALONE] if without_modules else [PAGE_ALONE, PAGE_OF_MODULES]
    rows = (
        _cells(query)
        .filter(sheet__module_id__in=kinds)
        .values_list("across", "down")
        .annotate(hits=Sum("count"), along=Sum("x_sum"), deep=Sum("y_sum"))
        .annotate(total=Window(_SumOfSums(F("hits"))))
        .order_by("-hits", "down", "across")[:MAX_SPOTS]
    )
    found = list(rows)
    spots = [
        Spot(_mean(along, hits, 10_000), _mean(deep, hits, 10), hits)
        for _across, _down, hits, along, deep, _total in found
    ]
    # Each row repeats the total of all cells, those beyond the limit too.
    return Heatmap(spots, spots[0].count if spots else 0, found[0][-1] if found else 0)


def module_clicks(query: HeatmapSpec) -> list[ModuleClicks]:
    """Return modules by how often they were clicked, with the spots in them; the most clicked first."""
    of_modules = _cells(query).exclude(sheet__module_id__in=[PAGE_ALONE, PAGE_OF_MODULES])
    ranked = list(
        of_modules.values_list("sheet__module_id")
        .annotate(hits=Sum("count"))
        .order_by("-hits", "sheet__module_id")[:MAX_MODULES]
    )
    rows = (
        of_modules.filter(sheet__module_id__in=[id_ for id_, _ in ranked])
        .exclude(down=NO_POSITION)
        .values_list("sheet__module_id", "across", "down")
        .annotate(hits=Sum("count"), along=Sum("x_sum"), deep=Sum("y_sum"))
        .order_by("-hits", "sheet__module_id", "down", "across")[:MAX_SPOTS]
    )
    spots: dict[str, list[Spot]] = defaultdict(list)
    for id_, _, _, hits, along, deep in rows:
        spots[id_].append(Spot(_mean(along, hits, 1_000), _mean(deep, hits, 1_000), hits))
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


def _cells(query: HeatmapSpec) -> QuerySet[HeatCell]:
    cells = HeatCell.objects.filter(
        day__gte=query.period.first,
        day__lte=query.period.last,
        sheet__post_id=query.post_id,
        sheet__event_type=query.event_type,
    )
    if query.device is not None:
        cells = cells.filter(sheet__device=query.device)
    first, end = query.versions
    if first is not None:
        cells = cells.filter(sheet__version__gte=first)
    return cells if end is None else cells.filter(sheet__version__lt=end)


def _mean(total: int, hits: int, unit: int) -> float:
    return round(total / hits / unit, 4)
