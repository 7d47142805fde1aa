"""`/api/public/resolve`: what stands at an address of the site, for frontends that have their own pages."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content import queries
from content.api.delivered import DeliveredViewSet
from content.api.delivery import VARIATION, delivered_post, variation_of
from content.arm_queries import arms_in, running_arms
from content.site.addresses import canonical_form
from core.api.answer import described
from core.api.permissions import PUBLIC, Declared
from core.errors import NotFound, invalid
from seo.api import schema
from seo.models import ADDRESS_MAX
from seo.queries import target_of


class ResolveViewSet(DeliveredViewSet):
    """What stands at an address."""

    permissions: ClassVar[dict[str, Declared]] = {"resolve": PUBLIC}

    @extend_schema(
        parameters=[*schema.PATH_PARAMETER, VARIATION], responses=described(schema.ResolvedAnswer)
    )
    def resolve(self, request: Request) -> Response:
        """The published post at a path, or where a redirect leads from there."""
        path = request.query_params.get("path", "")
        if not path.startswith("/") or len(path) > ADDRESS_MAX or "\x00" in path:
            raise invalid(
                "path", f"path must begin with / and have at most {ADDRESS_MAX:,} characters."
            )
        posts = queries.published_posts().annotate(arms=running_arms())
        found = posts.filter(path=canonical_form(path)).first()
        if found is not None:
            arms, variation = arms_in(found.arms), variation_of(request)
            post = delivered_post(found, arms=arms, variation=variation)
            return Response({"type": "post", "post": post})
        target = target_of(path)
        if target is None:
            raise NotFound("Nothing is published at this path.")
        leads = {"toPath": target.to_path, "status": target.status}
        return Response({"type": "redirect", "redirect": leads})
