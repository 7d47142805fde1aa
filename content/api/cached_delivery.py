"""Delivery responses for frontends and CDNs: rate limited, and cached per URL until their content changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.response import Response

from proofroom.core.api import exceptions
from proofroom.core.api.body import dumps
from proofroom.core.api.negotiation import IgnoreAcceptNegotiation
from proofroom.core.api.views import ApiViewSet
from proofroom.core.caching.answer_cache import CachedAnswer, answers, etag_of
from proofroom.core.caching.cache_tags import (
    cache_headers,
    dependencies_of,
    public_cache_control,
)
from proofroom.core.caching.content_tags import (
    ANY_TYPE,
    EVERYTHING,
    collect_tags,
    tag_of_list,
)
from proofroom.core.caching.content_version import (
    NO_STATE,
    leased_state,
    live_state,
    tags_changed_since,
)
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.caching.front_cache import mark_cacheable, reduced_query
from proofroom.core.caching.rate_limits import HitCount, count_caller, set_rate_limit_headers
from proofroom.core.database.replica import from_replica

CACHE_CONTROL: Final = public_cache_control(60)
SCOPE: Final = "public"
"""Name of the rate limit."""


class DeliveredViewSet(ApiViewSet):
    """Public reads. Responses are cached per URL; the front cache answers conditional requests with 304."""

    authentication_classes = ()
    throttle_classes = ()  # `dispatch` counts all calls, including cache hits
    content_negotiation_class = IgnoreAcceptNegotiation
    cache_control = CACHE_CONTROL
    tagged: ClassVar[frozenset[str]] = frozenset()
    """Actions that report their dependencies with `depend_on`; responses of others depend on everything."""
    parameters: ClassVar[Mapping[str, Collection[str]]]
    """Query parameters that the responses of each read depend on."""
    live_state = NO_STATE
    """State of the content in the response, or an earlier state."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count the call, then answer from the cache or the database."""
        count = count_caller(SCOPE, request)
        if count is not None:
            set_rate_limit_headers(request, count)
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
        with from_replica():
            return self._answer(request, count, *args, **kwargs)

    def _answer(
        self, request: HttpRequest, count: HitCount | None, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        # Clients with credentials may read what they just wrote, so they get the current state instead of a
        # leased one.
        meta = request.META
        has_credentials = bool(meta.get("HTTP_AUTHORIZATION") or meta.get("HTTP_COOKIE"))
        state = live_state() if has_credentials else leased_state()
        self.live_state = state
        answers.follow(state, tags_changed_since)
        action = self.action_map.get(str(request.method).lower(), "")
        # Other parameters don't change the response, and could be used to fill the cache.
        parameters = self.parameters[action] if action else ()
        key = f"{request.path}?{reduced_query(meta.get('QUERY_STRING', ''), parameters)}"
        cached = answers.get(state, key)
        if cached is None:
            with collect_tags() as tags:
                response = super().dispatch(request, *args, **kwargs)
            if response.status_code != 200 or not isinstance(response, Response):
                if response.status_code == 404:
                    # Shared caches store it too, until something is published there.
                    for name, value in cache_headers({*tags, tag_of_list(ANY_TYPE)}).items():
                        response[name] = value
                return response
            cached = delivered_answer(
                dumps(response.data), state, tags, is_tagged=self.action in self.tagged
            )
            answers.put(state, key, cached)
        answer = HttpResponse(cached.body, content_type="application/json")
        headers = {"ETag": cached.etag, "Cache-Control": CACHE_CONTROL, **cached.headers}
        for name, value in (headers | (count.headers if count else {})).items():
            answer[name] = value
        return mark_cacheable(answer, state, cached, scope=SCOPE, parameters=parameters)


def delivered_answer(
    body: bytes, state: LiveState, tags: Collection[str], *, is_tagged: bool
) -> CachedAnswer:
    """Return a cached answer with ETag, cache tags and modification time.

    One that is not `is_tagged` depends on more than the tags that were collected.
    """
    return CachedAnswer(
        body,
        etag_of(body),
        cache_headers(tags),
        modified=int(state.moved_at.timestamp()) if state.moved_at is not None else None,
        tags=dependencies_of(tags) if is_tagged else frozenset({EVERYTHING}),
    )
