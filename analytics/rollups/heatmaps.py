"""Heatmaps: where a page and its modules were hit."""

from __future__ import annotations

from collections import defaultdict
from typing import Final
from uuid import UUID

from django.db.models import BigIntegerField, F, Func, QuerySet, Sum, Window

from analytics.models import HeatCell
from analytics.rollups.click_positions import NO_POSITION, PAGE_ALONE, PAGE_OF_MODULES
from analytics.rollups.report_types import Heat, HeatAsked, ModuleClicks, Spot
from content.models import Post
from content.posts import post_repository
from content.review.labels import module_names

SPOTS: Final = 5_000
MODULES: Final = 200
SPOTS_OF_MODULES: Final = 5_000


class _Whole(Func):
    """A sum of sums, over all groups: `Sum` takes no sums."""

    function = "SUM"
    window_compatible = True
    output_field = BigIntegerField()


def heatmap(asked: HeatAsked, *, without_modules: bool = False) -> Heat:
    """One statement."""
    kinds = [PAGE_ALONE] if without_modules else [PAGE_ALONE, PAGE_OF_MODULES]
    rows = (
        _chosen(asked)
        .filter(sheet__module_id__in=kinds)
        .values_list("across", "down")
        .annotate(hits=Sum("count"), along=Sum("x_sum"), deep=Sum("y_sum"))
        .annotate(total=Window(_Whole(F("hits"))))
        .order_by("-hits", "down", "across")[:SPOTS]
    )
    found = [
        (Spot(_mean(along, hits, 10_000), _mean(deep, hits, 10), hits), total)
        for _, _, hits, along, deep, total in rows
    ]
    most, whole = (found[0][0].count, found[0][1]) if found else (0, 0)
    return Heat([spot for spot, _ in found], most, whole)


def module_clicks(asked: HeatAsked) -> list[ModuleClicks]:
    """Modules by how often they were clicked, the most clicked first."""
    of_modules = _chosen(asked).exclude(sheet__module_id__in=[PAGE_ALONE, PAGE_OF_MODULES])
    ranked = list(
        of_modules.values_list("sheet__module_id")
        .annotate(hits=Sum("count"))
        .order_by("-hits", "sheet__module_id")[:MODULES]
    )
    spots = _spots(of_modules, [name for name, _ in ranked])
    labels, types = _names(asked.post_id)
    return [
        ModuleClicks(
            post_module_id=name,
            label=labels.get(name, "A module that is gone"),
            type=types.get(name, ""),
            is_gone=name not in types,
            clicks=hits,
            spots=spots[name],
        )
        for name, hits in ranked
    ]


def _chosen(asked: HeatAsked) -> QuerySet[HeatCell]:
    cells = HeatCell.objects.filter(
        day__gte=asked.period.first,
        day__lte=asked.period.last,
        sheet__post_id=asked.post_id,
        sheet__event_type=asked.event_type,
    )
    if asked.device is not None:
        cells = cells.filter(sheet__device=asked.device)
    first, end = asked.versions
    if first is not None:
        cells = cells.filter(sheet__version__gte=first)
    return cells if end is None else cells.filter(sheet__version__lt=end)


def _spots(of_modules: QuerySet[HeatCell], names: list[str]) -> dict[str, list[Spot]]:
    rows = (
        of_modules.filter(sheet__module_id__in=names)
        .exclude(down=NO_POSITION)
        .values_list("sheet__module_id", "across", "down")
        .annotate(hits=Sum("count"), along=Sum("x_sum"), deep=Sum("y_sum"))
        .order_by("-hits", "sheet__module_id", "down", "across")[:SPOTS_OF_MODULES]
    )
    found: dict[str, list[Spot]] = defaultdict(list)
    for name, _, _, hits, along, deep in rows:
        found[name].append(Spot(_mean(along, hits, 1_000), _mean(deep, hits, 1_000), hits))
    return found


def _names(post_id: UUID) -> tuple[dict[str, str], dict[str, str]]:
    """The labels and the types of the modules that the post has."""
    post = Post.objects.filter(pk=post_id).first()
    if post is None:
        return {}, {}
    document = post_repository.load(post)
    return module_names(document), {module.id: module.type for module in document.modules}


def _mean(total: int, hits: int, unit: int) -> float:
    return round(total / hits / unit, 4)
