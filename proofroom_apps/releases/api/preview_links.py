"""`/api/releases/:id/preview-links`: links that show the site as of a release without an account."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, PersonAnswer, list_of
from proofroom.core.api.body import Body, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, UUID_TEXT
from proofroom.core.api.views import ApiViewSet
from proofroom.core.site_urls import release_preview_url
from proofroom_apps.previews.api.preview_links import RevokedAnswer
from proofroom_apps.previews.services import LONGEST_HOURS, USUAL_HOURS
from proofroom_apps.releases.preview_links import (
    PREVIEW,
    create_release_link,
    list_release_links,
    revoke_release_link,
)


class ReleaseLinkAnswer(Answer):
    """A preview link of a release, without its address."""

    id: UUID
    expires_at: datetime
    created_by: PersonAnswer
    views: int = Field(ge=0)
    created_at: datetime


class MadeReleaseLinkAnswer(Answer):
    """A new preview link. Its address and its token are returned only once."""

    id: UUID
    url: str = Field(json_schema_extra={"format": "uri"})
    token: str = Field(description="For `Authorization: Preview <token>` of the delivery API.")
    expires_at: datetime


class NewReleaseLink(Body):
    """A preview link to create, with its lifetime."""

    expires_in_hours: Annotated[int, Field(ge=1, le=LONGEST_HOURS)] = USUAL_HOURS


class ReleaseLinkViewSet(ApiViewSet):
    """Preview links of one release. They also need the permission to manage releases."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": PREVIEW,
        "create": PREVIEW,
        "destroy": PREVIEW,
    }
    path_schemas: ClassVar = {"release_id": UUID_TEXT, "link_id": UUID_TEXT}

    @extend_schema(
        parameters=PAGES, responses=list_of(ReleaseLinkAnswer, "The preview links of a release.")
    )
    def list(self, request: Request, release_id: str) -> Response:
        """List the links that were not revoked, newest first, without addresses."""
        page = page_of(request)
        rows = list_release_links(release_id, self.actor)
        data = [
            ReleaseLinkAnswer.of(
                row,
                created_by=PersonAnswer(id=row.created_by_id, username=row.created_by_name),
            )
            for row in rows[page.slice]
        ]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=NewReleaseLink, responses={201: MadeReleaseLinkAnswer})
    def create(self, request: Request, release_id: str) -> Response:
        """Create a link to the site as of the release, until it goes live. The token is not stored."""
        body = read_body(request, NewReleaseLink)
        link, token = create_release_link(
            release_id=release_id, actor=self.actor, hours=body.expires_in_hours
        )
        url = release_preview_url(token)
        return Response(MadeReleaseLinkAnswer.of(link, url=url, token=token), status=201)

    @extend_schema(responses={200: RevokedAnswer})
    def destroy(self, request: Request, release_id: str, link_id: str) -> Response:
        """Revoke a link. It stops working at once."""
        revoke_release_link(release_id=release_id, link_id=link_id, actor=self.actor)
        return Response(RevokedAnswer(revoked=True))
