"""Merges rare values: pages may report any number of referrers, goals and modules.

Of each dimension the values that were counted most stay, on each day and month that is over; the others become one,
`~other`. Sums stay what they were. Forms that were taken stay too: the server counted them itself, and no stranger
can crowd them out. Done again, or killed in between, it changes nothing that is right.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, Sum
from django.utils import timezone

from analytics.models import Dimension, Grain, HeatCell, HeatSheet, PostCount, SiteCount
from analytics.rollups.aggregate import lock_state
from analytics.rollups.click_positions import PAGE_ALONE, PAGE_OF_MODULES
from analytics.rollups.counts import FORM

MAX_VALUES_KEPT: Final = 200
"""Values of one dimension on one day or in one month, of the site and of each post."""
OTHER: Final = "~other"
_OPEN: Final = (Dimension.REFERRER, Dimension.GOAL, Dimension.MODULE, Dimension.ARM)
"""Those whose values come from pages."""
_LOOKS_BACK: Final = timedelta(days=70)
Table = type[SiteCount] | type[PostCount]


def merge_rare_values(now: datetime | None = None) -> int:
    """Look at the days that ended in the last weeks, and their months. Answers how many rows went into others."""
    today = (now or timezone.now()).astimezone(UTC).date()
    return sum(_merge_in(table, today) for table in (SiteCount, PostCount))


def _merge_in(table: Table, today: date) -> int:
    is_over = Q(grain=Grain.DAY, day__lt=today) | Q(grain=Grain.MONTH, day__lt=today.replace(day=1))
    names = ["post_id"] if table is PostCount else []
    names += ["dimension", "grain", "day"]
    crowded = (
        table._default_manager.filter(is_over, day__gte=today - _LOOKS_BACK, dimension__in=_OPEN)
        .values(*names)
        .annotate(number=Count("id"))
        .filter(number__gt=MAX_VALUES_KEPT)
        .order_by(*names)
    )
    return sum(_merge(table, {name: row[name] for name in names}) for row in list(crowded))


@transaction.atomic
def _merge(table: Table, of: dict[str, Any]) -> int:
    """Of one dimension of one day or month. The arms of a test stay: only goals of theirs are rare."""
    lock_state(wait=True)
    rows = table._default_manager.filter(**of).exclude(value=OTHER).exclude(value__contains=FORM)
    if of["dimension"] == Dimension.ARM:
        rows = rows.filter(value__contains=" ")
    weighed = rows.annotate(weight=F("views") + F("clicks") + F("conversions"))
    kept = list(
        weighed.order_by("-weight", "value").values_list("value", flat=True)[: MAX_VALUES_KEPT - 1]
    )
    rare = rows.exclude(value__in=kept)
    sums = rare.aggregate(views=Sum("views"), clicks=Sum("clicks"), conversions=Sum("conversions"))
    other, _ = table._default_manager.get_or_create(**of, value=OTHER)
    grown = {name: F(name) + (number or 0) for name, number in sums.items()}
    table._default_manager.filter(pk=other.pk).update(**grown)
    if of["dimension"] == Dimension.MODULE and of["grain"] == Grain.DAY:
        # Those in rare modules: what was clicked there is still among the spots of the page.
        sheets = HeatSheet.objects.filter(post_id=of["post_id"]).exclude(
            module_id__in=[PAGE_ALONE, PAGE_OF_MODULES, *kept]
        )
        HeatCell.objects.filter(sheet__in=sheets, day=of["day"]).delete()
        sheets.exclude(Exists(HeatCell.objects.filter(sheet=OuterRef("pk")))).delete()
    return rare.delete()[0]
