"""`/api/seo/…`: sitemap, canonical URLs, and the trace of an address."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.posts.canonical_urls import set_missing_canonicals
from proofroom.core.api.answer import Answer
from proofroom.core.api.django_request import django_request
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet
from seo.api.resolve import PATH
from seo.sitemap import SitemapBuild, cached_sitemap, origin_of, rebuild_sitemap
from seo.trace import Outcome, StepName, trace_address


class SitemapAnswer(Answer):
    """The stored sitemap; `cached` is true while fresh. Zeros without one."""

    urls: int = Field(ge=0)
    built_at: datetime | None = Field(validation_alias="moment")
    cached: bool = Field(validation_alias="is_fresh")
    parts: int = Field(ge=0)

    @classmethod
    def of_build(cls, build: SitemapBuild | None) -> SitemapAnswer:
        """Return the answer for a sitemap, or for none."""
        nothing = {"urls": 0, "moment": None, "is_fresh": False, "parts": 0}
        return cls.model_validate(build or nothing)


class PopulatedAnswer(Answer):
    """The number of posts given a canonical URL."""

    updated: int = Field(ge=0)


class TraceStepAnswer(Answer):
    """A step of the trace."""

    step: StepName = Field(validation_alias="name")
    found: bool
    sentence: str
    facts: dict[str, Any]


class TraceAnswer(Answer):
    """The response of an address, and the reasons."""

    path: str
    outcome: Outcome
    status: Literal[200, 301, 302, 404]
    location: str | None
    steps: list[TraceStepAnswer]


class SeoViewSet(ApiViewSet):
    """Settings and reports for search engines."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("status", "rebuild", "populate", "trace"), "seo.manage"
    )

    @extend_schema(responses=SitemapAnswer)
    def status(self, request: Request) -> Response:
        """Return the stored sitemap for the requested host."""
        return Response(SitemapAnswer.of_build(cached_sitemap(origin_of(django_request(request)))))

    @extend_schema(request=None, responses=SitemapAnswer)
    def rebuild(self, request: Request) -> Response:
        """Generate the sitemap again, now."""
        build = rebuild_sitemap(origin=origin_of(django_request(request)), actor=self.actor)
        return Response(SitemapAnswer.of_build(build))

    @extend_schema(request=None, responses=PopulatedAnswer)
    def populate(self, request: Request) -> Response:
        """Give posts without a canonical URL their own. On a large site, repeat until it returns 0."""
        return Response(PopulatedAnswer(updated=set_missing_canonicals(actor=self.actor)))

    @extend_schema(parameters=[PATH], responses=TraceAnswer)
    def trace(self, request: Request) -> Response:
        """Return each step from an address to its response."""
        path = request.query_params.get("path", "")
        return Response(TraceAnswer.model_validate(trace_address(path, self.actor)))
