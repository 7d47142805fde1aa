"""`/api/public/…`: live, published content for frontends and CDNs. Nothing staged is ever read here."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content import presenters, queries
from content.api import reading
from content.api.delivered import DeliveredViewSet
from content.api.schema import posts as schema
from content.models import Post
from core.api.permissions import PUBLIC, Declared


class DeliveryViewSet(DeliveredViewSet):
    """Published posts."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
    }

    @extend_schema(parameters=schema.LIVE_PARAMETERS, responses=schema.LivePostListSchema)
    def list(self, request: Request) -> Response:
        """Published posts with their modules."""
        return Response(reading.post_list(request, staged=False))

    @extend_schema(responses=schema.LivePostSchema)
    def retrieve(self, request: Request, post_id: str) -> Response:
        """One published post."""
        return Response(delivered_post(reading.require_post(post_id, only_published=True)))


def delivered_post(post: Post) -> dict[str, Any]:
    """A published post as frontends get it."""
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
