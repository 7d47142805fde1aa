"""The scripts of the pages of the site, and the question whether visits may be counted."""

from __future__ import annotations

from django import template
from django.conf import settings

register = template.Library()


@register.inclusion_tag("site/scripts.html")
def site_scripts(is_uncounted: object = None, submission: object = None) -> dict[str, object]:
    """Return what a page loads: the lines that look for staff, and what counts visits where that is switched on.

    The answer to a form is part of the visit that sent it: it is no view of its own.
    """
    env = settings.CMS_ENV
    return {
        "is_tracked": env.analytics_tracking and not is_uncounted,
        "is_answer": bool(submission),
        "batch": env.analytics_batch,
        "seconds": env.analytics_batch_seconds,
        "asks_consent": env.analytics_consent,
    }


@register.simple_tag
def asks_for_consent(is_uncounted: object = None) -> bool:
    """Return whether the page asks its visitors before it counts them. A preview counts nobody."""
    env = settings.CMS_ENV
    return env.analytics_tracking and env.analytics_consent and not is_uncounted
