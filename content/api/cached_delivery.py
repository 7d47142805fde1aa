"""Delivery responses for frontends and CDNs: rate limited, and cached per URL until their content changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api import exceptions
from proofroom.core.api.body import dumps
from proofroom.core.api.negotiation import IgnoreAcceptNegotiation
from proofroom.core.api.permissions import PUBLIC, declared_access
from proofroom.core.api.query import refuse_names
from proofroom.core.api.views import ApiViewSet
from proofroom.core.caching.answer_cache import CachedAnswer, answers, etag_of
from proofroom.core.caching.content_tags import EVERYTHING, collect_tags
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

CACHE_CONTROL = "public, max-age=60"
SCOPE: Final = "public"
"""Name of the rate limit."""
_IGNORED_NAME: Final = re.compile(r"utm_.*|gclid|fbclid|msclkid|mc_.*|_.*", re.DOTALL)


class _AnsweredParameters(frozenset[str]):
    """The query parameters that an answer depends on: all but those that campaigns and CDNs append.

    Undeclared ones count, because they are refused. A cache that left them out would answer the wrong question.
    """

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and not is_ignored(name)


ANSWERED_PARAMETERS: Final = _AnsweredParameters()


def is_ignored(name: str) -> bool:
    """Return whether a query parameter is one that campaigns and CDNs append to links."""
    return _IGNORED_NAME.fullmatch(name) is not None


class DeliveredViewSet(ApiViewSet):
    """Public reads. Responses are cached per URL; the front cache answers conditional requests with 304."""

    authentication_classes = ()
    throttle_classes = ()  # `dispatch` counts all calls, including cache hits
    content_negotiation_class = IgnoreAcceptNegotiation
    cache_control = CACHE_CONTROL
    tagged: ClassVar[frozenset[str]] = frozenset()
    """Actions that report their dependencies with `depend_on`; responses of others depend on everything."""
    parameters: ClassVar[Mapping[str, Collection[str]]]
    """Query parameters of each read. Others are refused, but for those that campaigns and CDNs append."""
    ignores_unknown: ClassVar[bool] = False
    """True if undeclared query parameters are ignored, for reads outside of `/api/public/`."""
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
        # Ignored parameters don't change the response, and could be used to fill the cache.
        parameters = self.parameters[action] if self.ignores_unknown else ANSWERED_PARAMETERS
        query = reduced_query(meta.get("QUERY_STRING", ""), parameters)
        key = f"{request.path}?{query}"
        cached = answers.get(state, key)
        if cached is None:
            with collect_tags() as tags:
                response = super().dispatch(request, *args, **kwargs)
            if response.status_code != 200 or not isinstance(response, Response):
                return response
            cached = delivered_answer(
                dumps(response.data), state, tags if self.action in self.tagged else {EVERYTHING}
            )
            answers.put(state, key, cached)
        answer = HttpResponse(cached.body, content_type="application/json")
        headers = {"ETag": cached.etag, "Cache-Control": CACHE_CONTROL}
        for name, value in (headers | (count.headers if count else {})).items():
            answer[name] = value
        return mark_cacheable(answer, state, cached, scope=SCOPE, parameters=parameters)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        is_read = request.method in ("GET", "HEAD") and self.action is not None
        if is_read and not self.ignores_unknown and declared_access(self, self.action) == PUBLIC:
            known = self.parameters[self.action]
            unknown = [
                name
                for name in request.query_params
                if name not in known
                and not is_ignored(name)
                and not self.takes_parameter(self.action, name)
            ]
            refuse_names(unknown, sorted(known), self.suggest_parameter)

    def takes_parameter(self, action: str, name: str) -> bool:
        """Return whether an action takes a parameter that `parameters` cannot list."""
        return False

    def suggest_parameter(self, name: str) -> str:
        """Return the parameter that was probably meant by a wrong name; empty for none."""
        return ""


def delivered_answer(body: bytes, state: LiveState, tags: Collection[str]) -> CachedAnswer:
    """Return a cached answer with ETag and modification time."""
    modified = int(state.moved_at.timestamp()) if state.moved_at is not None else None
    return CachedAnswer(body, etag_of(body), modified=modified, tags=frozenset(tags))
