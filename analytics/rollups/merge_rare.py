"""Merges rare values, because pages may report any number of referrers, goals and modules.

For each dimension, on each finished day and month, the most frequent values stay; the others are
merged into `~other`. Sums stay unchanged. Submitted forms always stay: the server counts them, and
reports of strangers cannot displace them. Idempotent, and safe to kill.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, Sum
from django.utils import timezone

from analytics.models import Dimension, Grain, HeatBatch, HeatSheet, PostCount, SiteCount
from analytics.periods import day_of
from analytics.rollups.aggregate import lock_state
from analytics.rollups.heat_batches import PAGE_ALONE, PAGE_OF_MODULES
from analytics.rollups.rollup_sql import FORM
from proofroom.core.independent_steps import independent_steps

MAX_VALUES_KEPT: Final = 200
"""Maximum values of one dimension on one day or in one month, of the site and of each post."""
OTHER: Final = "~other"
_REPORTED_DIMENSIONS: Final = (Dimension.REFERRER, Dimension.GOAL, Dimension.MODULE, Dimension.ARM)
"""Dimensions with values reported by pages."""
# Includes the whole previous month, whose monthly rows are merged after its end.
_PERIOD: Final = timedelta(days=70)


def merge_rare_values(now: datetime | None = None) -> int:
    """Merge rare values of the last weeks and their months. Return the number of merged rows."""
    this_day = day_of(now or timezone.now())
    is_over = Q(grain=Grain.DAY, day__lt=this_day) | Q(
        grain=Grain.MONTH, day__lt=this_day.replace(day=1)
    )
    merged = 0
    with independent_steps() as step:
        for table in (SiteCount, PostCount):
            names = ["post_id"] if table is PostCount else []
            names += ["dimension", "grain", "day"]
            crowded = (
                table._default_manager.filter(is_over, day__gte=this_day - _PERIOD)
                .filter(dimension__in=_REPORTED_DIMENSIONS)
                .values(*names)
                .annotate(number=Count("id"))
                .filter(number__gt=MAX_VALUES_KEPT)
                .order_by(*names)
            )
            for row in list(crowded):
                of = {name: row[name] for name in names}
                with step(f"merging rare values of {of}"):
                    merged += _merge_values(table, of)
    return merged


@transaction.atomic
def _merge_values(table: type[SiteCount | PostCount], of: dict[str, Any]) -> int:
    """Merge one dimension of one day or month. The arms of a test stay: only their goals can be rare."""
    lock_state(wait=True)
    rows = table._default_manager.filter(**of).exclude(value=OTHER).exclude(value__contains=FORM)
    if of["dimension"] == Dimension.ARM:
        rows = rows.filter(value__contains=" ")
    weighed = rows.annotate(weight=F("views") + F("clicks") + F("conversions"))
    frequent = list(
        weighed.order_by("-weight", "value").values_list("value", flat=True)[: MAX_VALUES_KEPT - 1]
    )
    rare = rows.exclude(value__in=frequent)
    sums = rare.aggregate(views=Sum("views"), clicks=Sum("clicks"), conversions=Sum("conversions"))
    other, _ = table._default_manager.get_or_create(**of, value=OTHER)
    increments = {name: F(name) + (number or 0) for name, number in sums.items()}
    table._default_manager.filter(pk=other.pk).update(**increments)
    if of["dimension"] == Dimension.MODULE and of["grain"] == Grain.DAY:
        # Heat sheets of rare modules are deleted; their clicks also have cells of the page.
        sheets = HeatSheet.objects.filter(post_id=of["post_id"]).exclude(
            module_id__in=[PAGE_ALONE, PAGE_OF_MODULES, *frequent]
        )
        HeatBatch.objects.filter(sheet__in=sheets, day=of["day"]).delete()
        sheets.exclude(Exists(HeatBatch.objects.filter(sheet=OuterRef("pk")))).delete()
    return rare.delete()[0]
