"""`/api/seo/…`: the sitemap, canonical addresses, and why an address answers as it does."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content.services.canonicals import populate_canonicals
from core.api.permissions import Declared
from core.api.views import ApiViewSet
from seo import presenters
from seo.api import schema
from seo.origins import origin_of
from seo.services.sitemap import rebuild_sitemap
from seo.sitemap.keeping import kept
from seo.tracing import trace


class SeoViewSet(ApiViewSet):
    """What search engines are told."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("status", "rebuild", "populate", "trace"), "seo.manage"
    )

    @extend_schema(responses=schema.SitemapSchema)
    def status(self, request: Request) -> Response:
        """The sitemap that is kept under the name that was asked for."""
        return Response(presenters.sitemap(kept(origin_of(request._request))))

    @extend_schema(request=None, responses=schema.SitemapSchema)
    def rebuild(self, request: Request) -> Response:
        """Make the sitemap anew, now."""
        build = rebuild_sitemap(origin=origin_of(request._request), actor=self.actor)
        return Response(presenters.sitemap(build))

    @extend_schema(request=None, responses=schema.PopulatedSchema)
    def populate(self, request: Request) -> Response:
        """Give posts without a canonical address their own. On a large site, repeat it until it answers 0."""
        return Response({"updated": populate_canonicals(actor=self.actor)})

    @extend_schema(parameters=schema.PATH_PARAMETER, responses=schema.TraceSchema)
    def trace(self, request: Request) -> Response:
        """Each step from an address to its answer."""
        path = request.query_params.get("path", "")
        return Response(presenters.trace(trace(path, self.actor)))
