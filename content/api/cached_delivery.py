"""Whole answers for frontends and CDNs: counted, kept per address and content version, judged by their conditions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.http import http_date, parse_http_date_safe
from rest_framework.response import Response

from proofroom.core.api import exceptions
from proofroom.core.api.renderers import OneAnswer, dumps
from proofroom.core.api.throttles import HitCount, count_caller, show_rate_limit
from proofroom.core.api.views import ApiViewSet
from proofroom.core.caching.answer_cache import CachedAnswer, answers
from proofroom.core.outbox import live_state

CACHE_CONTROL = "public, max-age=60"


class DeliveredViewSet(ApiViewSet):
    """Public reads. Whole answers are kept per address and content version; ETags and dates answer 304."""

    authentication_classes = ()
    throttle_classes = ()  # `dispatch` counts, hits included
    content_negotiation_class = OneAnswer
    cache_control = CACHE_CONTROL

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count the call, then answer from what is kept, else from the database."""
        count = count_caller("public", request)
        if count is not None:
            show_rate_limit(request, count)
            if count.is_over:
                refusal = exceptions.body(
                    429, "too_many_requests", "Too many requests; wait a little."
                )
                too_many = HttpResponse(
                    dumps(refusal.data), status=429, content_type="application/json"
                )
                too_many["Retry-After"] = str(count.wait)
                for name, value in count.headers.items():
                    too_many[name] = value
                return too_many
        if request.method not in ("GET", "HEAD"):
            return super().dispatch(request, *args, **kwargs)
        state = live_state()
        key = request.get_full_path()
        kept = answers.get(state.version, key)
        if kept is None:
            response = super().dispatch(request, *args, **kwargs)
            if response.status_code != 200 or not isinstance(response, Response):
                return response
            kept = answers.put(state.version, key, dumps(response.data))
        return _answer(request, kept, state.moved_at, count)


def _answer(
    request: HttpRequest, kept: CachedAnswer, moved_at: datetime | None, count: HitCount | None
) -> HttpResponse:
    # The date of what stands now: before this second, which can still see another change.
    modified = None
    if moved_at is not None:
        modified = min(int(moved_at.timestamp()), int(timezone.now().timestamp()) - 1)
    # An ETag says exactly whether the caller has this answer already, so it wins over a date.
    etags = request.META.get("HTTP_IF_NONE_MATCH")
    if etags is not None:
        is_known = kept.etag in etags or etags.strip() == "*"
    else:
        since = parse_http_date_safe(request.META.get("HTTP_IF_MODIFIED_SINCE", ""))
        is_known = modified is not None and since is not None and modified <= since
    response = HttpResponse(status=304)
    if not is_known:
        response = HttpResponse(kept.body, content_type="application/json")
    response["ETag"] = kept.etag
    if modified is not None:
        response["Last-Modified"] = http_date(modified)
    response["Cache-Control"] = CACHE_CONTROL
    for name, value in (count.headers if count else {}).items():
        response[name] = value
    return response
