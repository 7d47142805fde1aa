"""The scripts of the pages of the site."""

from __future__ import annotations

from django import template
from django.conf import settings
from django.template import Context

register = template.Library()


@register.inclusion_tag("site/scripts.html", takes_context=True)
def site_scripts(context: Context) -> dict[str, bool]:
    """What a page loads: the lines that look for staff, and what counts visits where that is switched on."""
    is_tracked = settings.CMS_ENV.analytics_tracking and not context.get("is_uncounted")
    return {"is_tracked": is_tracked}
