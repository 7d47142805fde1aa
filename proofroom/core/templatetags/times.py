"""Moments in the reader's time zone, with its name."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils import timezone

from proofroom.core.i18n import time_zones

register = template.Library()


@register.filter
def exact_time(moment: datetime | None) -> str:
    """The moment with the name of the zone, for a tooltip. Empty where there is none."""
    return time_zones.exact_time(moment) if isinstance(moment, datetime) else ""


@register.simple_tag
def time_zone_id() -> str:
    """Return the name of the reader's zone as scripts need it."""
    return timezone.get_current_timezone_name()


@register.simple_tag
def time_zone_name() -> str:
    return time_zones.current_zone_name()
