"""Times in the reader's time zone."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString

from proofroom.core.i18n import time_zones
from proofroom.core.i18n.ages import age_html

register = template.Library()


@register.filter
def exact_time(moment: datetime | None) -> str:
    """Return the time with the name of the zone, for a tooltip; empty for None."""
    return time_zones.exact_time(moment) if isinstance(moment, datetime) else ""


@register.filter
def age(moment: datetime | None) -> SafeString | str:
    """Return the age of a time, with the exact time as its tooltip. A time in the future is shown as a date."""
    return age_html(moment)


@register.simple_tag
def time_zone_id() -> str:
    """Return the name of the reader's zone for scripts."""
    return timezone.get_current_timezone_name()


@register.simple_tag
def time_zone_name() -> str:
    return time_zones.current_zone_name()
