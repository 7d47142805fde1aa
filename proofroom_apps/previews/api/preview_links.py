"""`/api/posts/:id/preview-links`: links that show a layer of a post without an account."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.common_answers import LayerText
from content.store.post_queries import require_post
from proofroom.core.api.answer import Answer, PersonAnswer, list_of
from proofroom.core.api.body import Body, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet
from proofroom.core.site_urls import preview_url
from proofroom_apps.previews.services import (
    LONGEST_HOURS,
    USUAL_HOURS,
    create_preview_link,
    revoke_preview_link,
)


class PreviewLinkAnswer(Answer):
    """A preview link, without its address."""

    id: UUID
    layer: LayerText
    expires_at: datetime
    created_by: PersonAnswer
    views: int = Field(ge=0)
    created_at: datetime


class MadePreviewLinkAnswer(Answer):
    """A new preview link. Its address is returned only once."""

    id: UUID
    url: str = Field(json_schema_extra={"format": "uri"})
    expires_at: datetime
    layer: LayerText


class RevokedAnswer(Answer):
    """The answer to revoking a preview link."""

    revoked: bool


class NewPreviewLink(Body):
    """A preview link to create: its layer and lifetime."""

    layer: Literal["source", "review", "ai-review"] = "ai-review"
    expires_in_hours: Annotated[int, Field(ge=1, le=LONGEST_HOURS)] = USUAL_HOURS


class PreviewLinkViewSet(ApiViewSet):
    """Preview links of one post."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.preview",
        "create": "posts.preview",
        "destroy": "posts.preview",
    }

    @extend_schema(
        parameters=PAGES, responses=list_of(PreviewLinkAnswer, "The preview links of a post.")
    )
    def list(self, request: Request, post_id: str) -> Response:
        """List the links that were not revoked, newest first, without addresses."""
        post = require_post(post_id, self.actor)
        page = page_of(request)
        rows = post.preview_links.order_by("-created_at", "id")
        data = [
            PreviewLinkAnswer.of(
                row,
                created_by=PersonAnswer(id=row.created_by_id, username=row.created_by_name),
            )
            for row in rows[page.slice]
        ]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=NewPreviewLink, responses={201: MadePreviewLinkAnswer})
    def create(self, request: Request, post_id: str) -> Response:
        """Create a link. Its address is returned only once and not stored."""
        body = read_body(request, NewPreviewLink)
        post = require_post(post_id, self.actor)
        link, token = create_preview_link(
            post_id=post.pk, layer=body.layer, hours=body.expires_in_hours, actor=self.actor
        )
        return Response(MadePreviewLinkAnswer.of(link, url=preview_url(token)), status=201)

    @extend_schema(responses={200: RevokedAnswer})
    def destroy(self, request: Request, post_id: str, link_id: str) -> Response:
        """Revoke a link. It stops working at once."""
        post = require_post(post_id, self.actor)
        revoke_preview_link(post_id=post.pk, link_id=link_id, actor=self.actor)
        return Response(RevokedAnswer(revoked=True))
