"""Delivery responses for frontends and CDNs: rate limited, and cached per URL until their content changes.

Only answers that are made count against the rate: cached answers and 304s are free, so that a static build of a whole
site is not refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.accounts.delivery_credentials import (
    DeliveryCredential,
    find_credential,
    open_preview,
)
from proofroom.core.api import exceptions
from proofroom.core.api.body import dumps
from proofroom.core.api.negotiation import IgnoreAcceptNegotiation
from proofroom.core.api.permissions import PUBLIC, declared_access
from proofroom.core.api.query import is_ignored, refuse_names
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
from proofroom.core.caching.rate_limits import (
    HitCount,
    client_address,
    is_allow_listed,
    set_rate_limit_headers,
)
from proofroom.core.database.replica import from_replica

CACHE_CONTROL: Final = public_cache_control(60)
SCOPE: Final = "public"
"""Name of the rate limit of callers without a delivery token."""


class _AnsweredParameters(frozenset[str]):
    """The query parameters that an answer depends on: all but the ones of campaigns and CDNs.

    Undeclared ones count, because they are refused. A cache that left them out would answer the wrong question.
    """

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and not is_ignored(name)


ANSWERED_PARAMETERS: Final = _AnsweredParameters()


class DeliveredViewSet(ApiViewSet):
    """Public reads. Responses are cached per URL; the front cache answers conditional requests with 304."""

    authentication_classes = ()
    throttle_classes = ()  # `dispatch` counts the calls that are not answered from the cache
    content_negotiation_class = IgnoreAcceptNegotiation
    cache_control = CACHE_CONTROL
    is_cached: ClassVar[bool] = True
    tagged: ClassVar[frozenset[str]] = frozenset()
    """Actions that report their dependencies with `depend_on`; responses of others depend on everything."""
    parameters: ClassVar[Mapping[str, Collection[str]]]
    """Query parameters of each public action. Others are refused, except the ones of campaigns and CDNs."""
    live_state = NO_STATE
    """State of the content in the response, or an earlier state."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer from the cache, otherwise count the call and answer from the database."""
        try:
            preview = open_preview(request)
            credential = find_credential(request) if preview is None else None
        except exceptions.InvalidToken as error:
            # Counted, so that tokens cannot be guessed at any rate.
            count = _count_call(request, None)
            if count is not None and count.is_over:
                return _too_many_requests(count)
            return _refusal(401, "invalid_token", str(error.detail), {"WWW-Authenticate": "Bearer"})
        if preview is not None:
            return self._answer_preview(request, preview, *args, **kwargs)
        if not self.is_cached or request.method not in ("GET", "HEAD"):
            count = _count_call(request, credential)
            if count is not None and count.is_over:
                return _too_many_requests(count)
            return super().dispatch(request, *args, **kwargs)
        with from_replica():
            return self._answer(request, credential, *args, **kwargs)

    def _answer_preview(
        self,
        request: HttpRequest,
        preview: AbstractContextManager[object],
        *args: Any,
        **kwargs: Any,
    ) -> HttpResponseBase:
        """Answer with what a preview token shows. No cache may store it."""
        count = _count_call(request, None)
        if count is not None and count.is_over:
            return _too_many_requests(count)
        with preview:
            self.live_state = live_state()
            response = super().dispatch(request, *args, **kwargs)
            if isinstance(response, Response):
                response.render()  # also reads content
        for name in ("ETag", "Last-Modified", "Cache-Tag"):
            del response[name]
        response["Cache-Control"] = "no-store"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    def _answer(
        self,
        request: HttpRequest,
        credential: DeliveryCredential | None,
        *args: Any,
        **kwargs: Any,
    ) -> HttpResponseBase:
        # Clients with credentials may read what they just wrote, so they get the current state instead of a
        # leased one.
        meta = request.META
        has_credentials = bool(meta.get("HTTP_AUTHORIZATION") or meta.get("HTTP_COOKIE"))
        state = live_state() if has_credentials else leased_state()
        self.live_state = state
        answers.follow(state, tags_changed_since)
        # Ignored parameters don't change the response, and could be used to fill the cache.
        query = reduced_query(meta.get("QUERY_STRING", ""), ANSWERED_PARAMETERS)
        key = f"{request.path}?{query}"
        cached = answers.get(state, key)
        headers: dict[str, str] = {}
        count: HitCount | None = None
        if cached is None:
            count = _count_call(request, credential)
            if count is not None and count.is_over:
                return _too_many_requests(count)
            with collect_tags() as tags:
                response = super().dispatch(request, *args, **kwargs)
            if response.status_code != 200 or not isinstance(response, Response):
                if response.status_code == 404:
                    # Shared caches store it too, until something is published there.
                    for name, value in cache_headers({*tags, tag_of_list(ANY_TYPE)}).items():
                        response[name] = value
                return response
            # Text formats are bytes already, with their type.
            is_text = isinstance(response.data, bytes)
            cached = delivered_answer(
                response.data if is_text else dumps(response.data),
                state,
                tags,
                is_tagged=self.action in self.tagged,
                headers={"Content-Type": str(response.content_type)} if is_text else {},
            )
            answers.put(state, key, cached)
            headers = count.headers if count is not None else {}
        headers |= {"ETag": cached.etag, "Cache-Control": CACHE_CONTROL, **cached.headers}
        content_type = headers.pop("Content-Type", "application/json")
        answer = HttpResponse(cached.body, content_type=content_type)
        for name, value in headers.items():
            answer[name] = value
        # A caller who has the answer already gets a 304, which does not count.
        take_back = count.take_back if count is not None else None
        return mark_cacheable(
            answer, state, cached, parameters=ANSWERED_PARAMETERS, on_not_modified=take_back
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        known = self.parameters.get(self.action)
        if known is not None and declared_access(self, self.action) == PUBLIC:
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


def _count_call(request: HttpRequest, credential: DeliveryCredential | None) -> HitCount | None:
    """Count a call, of its delivery token or its address. None for an address without limits."""
    address = client_address(request)
    if is_allow_listed(address):
        return None
    count = credential.count() if credential is not None else HitCount(SCOPE, address)
    set_rate_limit_headers(request, count)
    return count


def _too_many_requests(count: HitCount) -> HttpResponse:
    headers = {"Retry-After": str(count.wait), **count.headers}
    return _refusal(429, "too_many_requests", "Too many requests; wait a little.", headers)


def _refusal(status: int, code: str, sentence: str, headers: Mapping[str, str]) -> HttpResponse:
    refusal = exceptions.body(status, code, sentence)
    return HttpResponse(
        dumps(refusal.data), status=status, content_type="application/json", headers=dict(headers)
    )


def delivered_answer(
    body: bytes,
    state: LiveState,
    tags: Collection[str],
    *,
    is_tagged: bool,
    headers: Mapping[str, str] | None = None,
) -> CachedAnswer:
    """Return a cached answer with ETag, cache tags and modification time.

    One that is not `is_tagged` depends on more than the tags that were collected.
    """
    return CachedAnswer(
        body,
        etag_of(body),
        {**(headers or {}), **cache_headers(tags)},
        modified=int(state.moved_at.timestamp()) if state.moved_at is not None else None,
        tags=dependencies_of(tags) if is_tagged else frozenset({EVERYTHING}),
    )
