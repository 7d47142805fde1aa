"""`/api/posts/trash`: what was deleted and can be restored."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content import presenters, queries
from content.api.schema import copies as schema
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.schema import PAGES
from core.api.views import ApiViewSet


class TrashViewSet(ApiViewSet):
    """The trash."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "posts.restore"}

    @extend_schema(parameters=PAGES, responses=schema.TrashSchema)
    def list(self, request: Request) -> Response:
        """Deleted posts, the last deleted first."""
        page = page_of(request)
        rows = queries.deleted_posts()
        data = [presenters.trashed(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))
