"""`/api/url-patterns`: what the addresses of a post type look like in a locale."""

from __future__ import annotations

from typing import ClassVar, Final

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.schema import url_patterns as schema
from content.models import UrlPattern
from content.models.url_pattern import PATTERN_MAX
from content.presenters.addresses import url_pattern
from content.services.url_patterns import change_pattern, create_pattern, delete_pattern
from core.api.body import Body, Words, body_object, check
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.schema import LOCATION
from core.api.views import ApiViewSet, expected_version

_READ_ONLY: Final = ("id", "pending", "createdAt", "updatedAt")


class NewPattern(Body):
    """A URL pattern. Other keys that a GET answers are ignored."""

    type: Words = Field(min_length=1, max_length=60, description="Post type.")
    locale: Words = Field(min_length=1, max_length=12)
    pattern: Words = Field(
        min_length=1,
        max_length=PATTERN_MAX,
        description="Like /news/{yyyy}/{slug}; {slug} {path} {locale} {yyyy} {mm} {dd}.",
    )
    version: int | None = Field(None, ge=0, description="Ignored here.")


class PatternChanges(Body):
    """Another pattern for the same type and locale."""

    type: Words | None = Field(None, max_length=60, description="Only as it was read.")
    locale: Words | None = Field(None, max_length=12, description="Only as it was read.")
    pattern: Words = Field(min_length=1, max_length=PATTERN_MAX)
    version: int | None = Field(None, ge=0, description="Of the last read.")


class UrlPatternViewSet(ApiViewSet):
    """URL patterns: list, create, update, delete."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("list", "create", "update", "destroy"), "urlPatterns.edit"
    )

    @extend_schema(parameters=schema.PATTERN_PARAMETERS, responses=schema.UrlPatternListSchema)
    def list(self, request: Request) -> Response:
        """The patterns that take the place of a type's own, by type and locale."""
        page = page_of(request)
        rows = UrlPattern.objects.filter(is_removed=False).order_by("type", "locale")
        return Response(page.envelope([url_pattern(row) for row in rows[page.slice]], rows.count()))

    @extend_schema(
        request=NewPattern, responses={201: schema.UrlPatternSchema}, parameters=[LOCATION]
    )
    def create(self, request: Request) -> Response:
        """Give the posts of a type other addresses in a locale. Those that visitors know lead on."""
        body = check(_written(request), NewPattern)
        row = create_pattern(
            actor=self.actor, type=body.type, locale=body.locale, pattern=body.pattern
        )
        address = f"/api/url-patterns/{row.pk}"
        return Response(url_pattern(row), status=201, headers={"Location": address})

    @extend_schema(request=PatternChanges, responses=schema.UrlPatternSchema)
    def update(self, request: Request, pattern_id: str) -> Response:
        """Change a pattern. Addresses that visitors know lead on."""
        body = check(_written(request), PatternChanges)
        row = change_pattern(
            pattern_id=pattern_id,
            actor=self.actor,
            pattern=body.pattern,
            type=body.type,
            locale=body.locale,
            expected_version=expected_version(request, body.version),
        )
        return Response(url_pattern(row))

    @extend_schema(responses={200: schema.UrlPatternGoneSchema})
    def destroy(self, request: Request, pattern_id: str) -> Response:
        """Go back to the type's own pattern. Addresses that visitors know lead on."""
        row = delete_pattern(pattern_id=pattern_id, actor=self.actor)
        return Response({"id": row})


def _written(request: Request) -> dict[str, object]:
    return {name: value for name, value in body_object(request).items() if name not in _READ_ONLY}
