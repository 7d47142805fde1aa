"""Visitors of an address where nothing stands are led on, if a redirect stands there."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.http.response import HttpResponseBase

from content.site.answers import MAX_AGE
from core.diagnostics.local_route import is_trial
from seo.addresses import is_site, with_query
from seo.hits import hits
from seo.queries import target_of


class RedirectMiddleware:
    """One look-up for each miss of the site, none for a page that is there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code != 404 or request.method not in ("GET", "HEAD"):
            return response
        if not is_site(request.path_info):
            return response
        return _led_on(request) or response


def _led_on(request: HttpRequest) -> HttpResponseBase | None:
    target = target_of(request.path_info)
    if target is None:
        return None
    if not is_trial(request):
        hits.add(target.id)
    kind = HttpResponsePermanentRedirect if target.status == 301 else HttpResponseRedirect
    response = kind(with_query(target.to_path, request.META.get("QUERY_STRING", "")))
    # Browsers keep a 301 for good otherwise, also when the redirect was taken back.
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response
