"""`/calendar/<secret>.ics`: the feed of a user, for other calendars."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from proofroom_apps.calendar.feeds import read_feed
from proofroom_apps.website.http_cache import rate_limit_response
from proofroom_apps.website.pages import missing_page


@require_safe
def feed(request: HttpRequest, secret: str) -> HttpResponse:
    """Return the feed, or the same 404 for every address that does not work."""
    response = rate_limit_response(request)
    if response is None:
        text = read_feed(secret)
        response = (
            HttpResponse(text, content_type="text/calendar; charset=utf-8")
            if text is not None
            else HttpResponse(missing_page(settings.CMS_ENV.default_locale), status=404)
        )
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    return response
