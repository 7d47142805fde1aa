"""Moments in the reader's time zone, with its name."""

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
    """The moment with the name of the zone, for a tooltip. Empty where there is none."""
    return time_zones.exact_time(moment) if isinstance(moment, datetime) else ""


@register.filter
def age(moment: datetime | None) -> SafeString | str:
    """How long ago the moment was, with itself in the tooltip; what is still to come has its date."""
    return age_html(moment)


@register.simple_tag
def time_zone_id() -> str:
    """Return the name of the reader's zone as scripts need it."""
    return timezone.get_current_timezone_name()


@register.simple_tag
def time_zone_name() -> str:
    return time_zones.current_zone_name()
