"""`/api/seo/…` and `/api/public/resolve`: sitemap, canonical URLs, and resolution of addresses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal, NotRequired

import orjson
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from content.api.cached_delivery import DeliveredViewSet
from content.api.delivered_posts import render_post_at
from content.api.delivery import (
    RICH_TEXT,
    VARIATION,
    DeliveredPostAnswer,
    text_format_of,
    variation_of,
)
from content.posts.canonical_urls import set_missing_canonicals
from proofroom.core.api.answer import Answer, described, one_of
from proofroom.core.api.django_request import django_request
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.schema import parameter_names, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import NotFound, invalid
from proofroom.core.site_urls import canonical_form
from proofroom.core.validation.limits import URL_MAX
from seo.models import RedirectType
from seo.queries import target_of
from seo.sitemap import SitemapBuild, cached_sitemap, origin_of, rebuild_sitemap
from seo.trace import Outcome, StepName, trace_address

_PATH: Final = query_parameter(
    "path",
    "A path of the site, like /de/blog/x.",
    {"type": "string", "pattern": "^/", "maxLength": URL_MAX},
    required=True,
)


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


class TargetAnswer(TypedDict):
    """The target of the redirect."""

    toPath: str
    status: Annotated[int, one_of(RedirectType.values)]


class ResolvedAnswer(TypedDict):
    """The content at a path: `post` or `redirect`, by `type`."""

    type: Annotated[str, one_of(["post", "redirect"])]
    post: NotRequired[DeliveredPostAnswer]
    redirect: NotRequired[TargetAnswer]


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

    @extend_schema(parameters=[_PATH], responses=TraceAnswer)
    def trace(self, request: Request) -> Response:
        """Return each step from an address to its response."""
        path = request.query_params.get("path", "")
        return Response(TraceAnswer.model_validate(trace_address(path, self.actor)))


class ResolveViewSet(DeliveredViewSet):
    """The resolution of an address, for frontends with their own pages."""

    permissions: ClassVar[dict[str, Declared]] = {"resolve": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "resolve": parameter_names([_PATH, VARIATION, RICH_TEXT])
    }

    @extend_schema(parameters=[_PATH, VARIATION, RICH_TEXT], responses=described(ResolvedAnswer))
    def resolve(self, request: Request) -> Response:
        """Return the published post at a path, or the target of a redirect."""
        path = request.query_params.get("path", "")
        if not path.startswith("/") or len(path) > URL_MAX or "\x00" in path:
            raise invalid(
                "path", f"path must begin with / and have at most {URL_MAX:,} characters."
            )
        found = render_post_at(
            canonical_form(path),
            request.query_params.get("variation", ""),
            text_format_of(request),
        )
        if found is not None:
            variation_of(request)  # raises 422 for an invalid name
            return Response({"type": "post", "post": orjson.Fragment(found.body)})
        target = target_of(path)
        if target is None:
            raise NotFound("Nothing is published at this path.")
        leads = {"toPath": target.to_path, "status": target.status}
        return Response({"type": "redirect", "redirect": leads})
