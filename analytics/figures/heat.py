"""Heatmaps: where a page and its modules were hit."""

from __future__ import annotations

from collections import defaultdict
from typing import Final
from uuid import UUID

from django.db.models import QuerySet, Sum

from analytics.figures.places import NOWHERE
from analytics.figures.shapes import Heat, HeatAsked, ModuleClicks, Spot
from analytics.figures.tallies import ALONE, ALSO
from analytics.models import HeatCell
from content import store
from content.models import Post
from content.review.labels import module_names

SPOTS: Final = 5_000
MODULES: Final = 200
SPOTS_OF_MODULES: Final = 5_000


def heatmap(asked: HeatAsked, *, without_modules: bool = False) -> Heat:
    """Three statements."""
    kinds = [ALONE] if without_modules else [ALONE, ALSO]
    cells = (
        _chosen(asked)
        .filter(module_id__in=kinds)
        .values("across", "down")
        .annotate(hits=Sum("count"), along=Sum("x_sum"), deep=Sum("y_sum"))
    )
    whole = _chosen(asked).filter(module_id__in=kinds).aggregate(total=Sum("count"))
    rows = cells.order_by("-hits", "down", "across")[:SPOTS]
    spots = [
        Spot(
            _mean(row["along"], row["hits"], 10_000),
            _mean(row["deep"], row["hits"], 10),
            row["hits"],
        )
        for row in rows
    ]
    most = spots[0].count if spots else 0
    return Heat(spots, most, whole["total"] or 0)


def module_clicks(asked: HeatAsked) -> list[ModuleClicks]:
    """Modules by how often they were clicked, the most clicked first."""
    of_modules = _chosen(asked).exclude(module_id__in=[ALONE, ALSO])
    ranked = list(
        of_modules.values_list("module_id")
        .annotate(hits=Sum("count"))
        .order_by("-hits", "module_id")[:MODULES]
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
        asked.period.counts(), post_id=asked.post_id, event_type=asked.event_type
    )
    if asked.device is not None:
        cells = cells.filter(device=asked.device)
    first, end = asked.versions
    if first is not None:
        cells = cells.filter(version__gte=first)
    return cells if end is None else cells.filter(version__lt=end)


def _spots(of_modules: QuerySet[HeatCell], names: list[str]) -> dict[str, list[Spot]]:
    rows = (
        of_modules.filter(module_id__in=names)
        .exclude(down=NOWHERE)
        .values_list("module_id", "across", "down")
        .annotate(hits=Sum("count"), along=Sum("x_sum"), deep=Sum("y_sum"))
        .order_by("-hits", "module_id", "down", "across")[:SPOTS_OF_MODULES]
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
    document = store.load(post)
    return module_names(document), {module.id: module.type for module in document.modules}


def _mean(total: int, hits: int, unit: int) -> float:
    return round(total / hits / unit, 4)
