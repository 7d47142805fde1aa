"""Daily figures in the form that adding up produces."""

from __future__ import annotations

from datetime import UTC, date, timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from analytics.models import Dimension, Grain, PostCount, SiteCount


def today() -> date:
    return timezone.now().astimezone(UTC).date()


def ago(days: int) -> date:
    return today() - timedelta(days=days)


def count(
    day: date,
    views: int = 0,
    clicks: int = 0,
    reached: int = 0,
    *,
    dimension: str = Dimension.TOTAL,
    value: str = "",
    post_id: UUID | None = None,
) -> None:
    """Add to the figures of the site, or of a post."""
    model: type[SiteCount | PostCount] = SiteCount if post_id is None else PostCount
    of_post = {} if post_id is None else {"post_id": post_id}
    row, _ = model._default_manager.get_or_create(
        dimension=dimension, grain=Grain.DAY, day=day, value=value, **of_post
    )
    model._default_manager.filter(pk=row.pk).update(
        views=F("views") + views,
        clicks=F("clicks") + clicks,
        conversions=F("conversions") + reached,
    )


def arm(
    original_id: UUID,
    arm_id: UUID,
    views: int,
    reached: int = 0,
    *,
    goal: str = "signup",
    day: date | None = None,
) -> None:
    """Add the figures of an experiment's arm on a day."""
    day = day or today()
    of_arm = {"dimension": Dimension.ARM, "post_id": original_id}
    count(day, views, 0, reached, value=str(arm_id), **of_arm)
    if reached:
        count(day, 0, 0, reached, value=f"{arm_id} {goal}", **of_arm)
