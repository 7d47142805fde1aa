"""The scripts of the pages of the site."""

from __future__ import annotations

from django import template
from django.conf import settings

register = template.Library()


@register.inclusion_tag("site/scripts.html")
def site_scripts() -> dict[str, bool]:
    """What a page loads: the lines that look for staff, and what counts visits where that is switched on."""
    return {"is_tracked": settings.CMS_ENV.analytics_tracking}
