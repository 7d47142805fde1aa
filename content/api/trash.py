"""`/api/posts/trash`: what was deleted and can be restored."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.common_answers import StatusText
from content.posts import queries
from proofroom.core.api.answer import Answer, MetaAnswer, TextOrNull
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet


class TrashedPostAnswer(Answer):
    """A post in the trash."""

    id: UUID
    type: str
    locale: str
    slug: str
    title: str
    status: StatusText
    variation_of: UUID | None = Field(validation_alias="variation_of_id")
    variation: TextOrNull
    deleted_at: datetime


class TrashAnswer(Answer):
    """The deleted posts."""

    data: list[TrashedPostAnswer]
    meta: MetaAnswer


class TrashViewSet(ApiViewSet):
    """The trash."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "posts.restore"}

    @extend_schema(parameters=PAGES, responses=TrashAnswer)
    def list(self, request: Request) -> Response:
        """Deleted posts, the last deleted first."""
        page = page_of(request)
        rows = queries.deleted_posts()
        data = [TrashedPostAnswer.of(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))
