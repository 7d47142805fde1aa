"""`/api/public/…`: live, published content for frontends and CDNs. Nothing staged is ever read here."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content import presenters, queries
from content.api import reading, schema
from content.api.answer_cache import Answer, answers
from content.models import Post
from core.api import exceptions
from core.api.permissions import PUBLIC, Declared
from core.api.renderers import dumps
from core.api.throttles import Count, client_address, is_allowed_freely
from core.api.views import ApiViewSet
from core.errors import NotFound, invalid
from core.events import content_version

CACHE_CONTROL = "public, max-age=60"


class DeliveryViewSet(ApiViewSet):
    """Published posts. Whole answers are kept per address and content version; ETags answer 304."""

    authentication_classes = ()
    throttle_classes = ()  # `dispatch` counts, hits included
    cache_control = CACHE_CONTROL
    permissions: ClassVar[dict[str, Declared]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
        "resolve": PUBLIC,
    }

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count the call, then answer from what is kept, else from the database."""
        address = client_address(request)
        count = None if is_allowed_freely(address) else Count("public", address)
        if count is not None:
            request.rate_limit_headers = count.headers  # type: ignore[attr-defined]
            if count.is_over:
                return _too_many(count)
        if request.method not in ("GET", "HEAD"):
            return super().dispatch(request, *args, **kwargs)
        version = content_version()
        key = request.get_full_path()
        kept = answers.get(version, key)
        if kept is None:
            response = super().dispatch(request, *args, **kwargs)
            if response.status_code != 200 or not isinstance(response, Response):
                return response
            kept = answers.put(version, key, dumps(response.data))
        return _answer(request, kept, count)

    @extend_schema(parameters=schema.LIST_PARAMETERS, responses=schema.POST_LIST, auth=[])
    def list(self, request: Request) -> Response:
        """Published posts with their modules."""
        return Response(reading.post_list(request, staged=False))

    @extend_schema(responses=schema.POST, auth=[])
    def retrieve(self, request: Request, post_id: str) -> Response:
        """One published post."""
        return Response(_whole(reading.require_post(post_id, only_published=True)))

    @extend_schema(parameters=schema.PATH_PARAMETER, responses=schema.FREE, auth=[])
    def resolve(self, request: Request) -> Response:
        """What stands at a path of the site."""
        path = request.query_params.get("path", "")
        if not path.startswith("/") or len(path) > 2000 or "\x00" in path:
            raise invalid("path", "path must begin with / and have at most 2,000 characters.")
        bare = path.rstrip("/")
        found = queries.published_posts().filter(path__in=[bare or "/", f"{bare}/"]).first()
        if found is None:
            raise NotFound("Nothing is published at this path.")
        return Response({"type": "post", "post": _whole(found)})


def _whole(post: Post) -> dict[str, Any]:
    wire = presenters.post_fields(post)
    for name in ("publishAt", "version"):
        wire.pop(name)
    wire["modules"] = [
        presenters.live_module(row) for row in queries.module_rows([post.pk]).get(post.pk, [])
    ]
    wire["taxonomyTermIds"] = queries.term_ids(post.pk)
    wire["translations"] = presenters.translations(
        queries.translations_of(post, only_published=True)
    )
    return wire


def _answer(request: HttpRequest, kept: Answer, count: Count | None) -> HttpResponse:
    given = request.META.get("HTTP_IF_NONE_MATCH", "")
    if kept.etag in given or given.strip() == "*":
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(kept.body, content_type="application/json")
    response["ETag"] = kept.etag
    response["Cache-Control"] = CACHE_CONTROL
    for name, value in (count.headers if count else {}).items():
        response[name] = value
    return response


def _too_many(count: Count) -> HttpResponse:
    refusal = exceptions.body(429, "too_many_requests", "Too many requests; wait a little.")
    response = HttpResponse(dumps(refusal.data), status=429, content_type="application/json")
    response["Retry-After"] = str(count.wait)
    for name, value in count.headers.items():
        response[name] = value
    return response
