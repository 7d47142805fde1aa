"""`/api/public/…`: live, published content for frontends and CDNs. Nothing staged is ever read here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content import presenters, queries
from content.api import reading
from content.api.delivered import DeliveredViewSet
from content.api.schema import delivery
from content.api.schema import posts as schema
from content.api.schema.delivery import FIELDS_MAX
from content.delivered_media import media_of
from content.models import Post
from core.api.permissions import PUBLIC, Declared
from core.errors import invalid


class DeliveryViewSet(DeliveredViewSet):
    """Published posts."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
    }

    @extend_schema(
        parameters=[*schema.LIVE_PARAMETERS, delivery.LIST_FIELDS],
        responses=delivery.SparseLivePostListSchema,
    )
    def list(self, request: Request) -> Response:
        """Published posts with their modules, or of each the `fields` that are asked for."""
        fields = fields_of(request, delivery.LISTABLE)
        return Response(reading.post_list(request, staged=False, fields=fields))

    @extend_schema(parameters=[delivery.FIELDS], responses=delivery.SparseLivePostSchema)
    def retrieve(self, request: Request, post_id: str) -> Response:
        """One published post, or the `fields` of it that are asked for."""
        post = reading.require_post(post_id, only_published=True)
        return Response(delivered_post(post, fields_of(request, delivery.WHOLE)))


def delivered_post(post: Post, fields: Collection[str] | None = None) -> dict[str, Any]:
    """A published post as frontends get it. What `fields` leave out is not read."""
    fields = delivery.WHOLE if fields is None else frozenset(fields)
    wire = reading.only(presenters.post_fields(post), fields)
    if fields & {"modules", "media"}:
        modules = queries.module_rows([post.pk])
        if "modules" in fields:
            wire["modules"] = [presenters.live_module(row) for row in modules.get(post.pk, [])]
        if "media" in fields:
            wire["media"] = media_of([post.pk], modules)[post.pk]
    if "taxonomyTermIds" in fields:
        wire["taxonomyTermIds"] = queries.term_ids(post.pk)
    if "translations" in fields:
        others = queries.translations_of(post, only_published=True)
        wire["translations"] = presenters.translations(others)
    return wire


def fields_of(request: Request, known: Collection[str]) -> Collection[str] | None:
    """What the query asks for of a post; None for all of it. 422 where a name is not one of `known`."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    wanted = {name.strip() for name in text[:FIELDS_MAX].split(",")}
    unknown = sorted(wanted.difference(known))
    if unknown or len(text) > FIELDS_MAX:
        raise invalid("fields", f"fields names some of: {', '.join(sorted(known))}; with commas.")
    return wanted
