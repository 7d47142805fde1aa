"""`/api/url-patterns`: the path patterns of a post type in a locale."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content.models import UrlPattern
from content.paths.pattern_fields import NewPattern, PatternChanges, UrlPatternAnswer
from content.paths.url_patterns import change_pattern, create_pattern, delete_pattern
from proofroom.core.api.answer import Answer, list_of
from proofroom.core.api.body import read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import LOCATION, PAGES
from proofroom.core.api.views import ApiViewSet, expected_version


class UrlPatternGoneAnswer(Answer):
    """The deleted pattern."""

    id: UUID


class UrlPatternViewSet(ApiViewSet):
    """URL patterns: list, create, update, delete."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("list", "create", "update", "destroy"), "urlPatterns.edit"
    )

    @extend_schema(
        parameters=PAGES, responses=list_of(UrlPatternAnswer, "URL patterns, by type and locale.")
    )
    def list(self, request: Request) -> Response:
        """List the patterns that replace the types' own, by type and locale."""
        page = page_of(request)
        rows = UrlPattern.objects.filter(is_removed=False).order_by("type", "locale")
        data = [UrlPatternAnswer.of(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=NewPattern, responses={201: UrlPatternAnswer}, parameters=[LOCATION])
    def create(self, request: Request) -> Response:
        """Change the addresses of a type's posts in a locale. Public addresses redirect."""
        body = read_body(request, NewPattern)
        row = create_pattern(actor=self.actor, **body.model_dump(exclude={"version"}))
        return Response(
            UrlPatternAnswer.of(row),
            status=201,
            headers={"Location": f"/api/url-patterns/{row.pk}"},
        )

    @extend_schema(request=PatternChanges, responses=UrlPatternAnswer)
    def update(self, request: Request, pattern_id: str) -> Response:
        """Change a pattern. Public addresses redirect."""
        body = read_body(request, PatternChanges)
        row = change_pattern(
            pattern_id=pattern_id,
            actor=self.actor,
            **body.model_dump(exclude={"version"}),
            expected_version=expected_version(request, body.version),
        )
        return Response(UrlPatternAnswer.of(row))

    @extend_schema(responses={200: UrlPatternGoneAnswer})
    def destroy(self, request: Request, pattern_id: str) -> Response:
        """Restore the type's own pattern. Public addresses redirect."""
        id_ = delete_pattern(pattern_id=pattern_id, actor=self.actor)
        return Response(UrlPatternGoneAnswer(id=id_))
