"""`/api/public/redirects`: the redirects of the site, for frontends and hosts that answer in its place."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.delivery.viewset import DeliveredViewSet
from proofroom.core.api.answer import Answer, MetaAnswer, one_of
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import PAGES, choice_schema, parameter_names, query_parameter
from proofroom.core.caching.cache_tags import REDIRECTS, add_cache_tags
from proofroom.core.caching.content_tags import ANY_TYPE, depend_on, tag_of_list
from seo.models import RedirectType
from seo.queries import followed_redirects
from seo.redirect_rules import RULE_FORMATS, RuleFormat, redirect_rules

JSON: Final = "json"
_FORMATS: Final = (JSON, *RULE_FORMATS)
_TEXT: Final = "text/plain; charset=utf-8"
_PARAMETERS: Final = [
    query_parameter(
        "format",
        "json in pages; or all of them as text: the file _redirects of Netlify, or locations of nginx.",
        {**choice_schema(*_FORMATS), "default": JSON},
    ),
    *PAGES,
]


class DeliveredRedirectAnswer(Answer):
    """An active redirect. `toPath` is a path of the site or an absolute address."""

    from_path: str
    to_path: str
    type: Annotated[int, one_of(RedirectType.values)]
    locale: str


class DeliveredRedirectListAnswer(Answer):
    """Active redirects by their source."""

    data: list[DeliveredRedirectAnswer]
    meta: MetaAnswer


class PublicRedirectViewSet(DeliveredViewSet):
    """Active redirects."""

    permissions: ClassVar[dict[str, Declared]] = {"list": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {"list": parameter_names(_PARAMETERS)}

    @extend_schema(
        parameters=_PARAMETERS,
        responses={
            (200, "application/json"): DeliveredRedirectListAnswer,
            (200, "text/plain"): {"type": "string", "description": "A line for each redirect."},
        },
    )
    def list(self, request: Request) -> Response:
        """List the redirects that the site follows. One at the address of a published post is not among them."""
        format = choice_in(request, "format", _FORMATS) or JSON
        rows = followed_redirects()
        add_cache_tags(REDIRECTS)
        # A published post replaces a redirect of its path, and a hidden one hides the redirects to it.
        depend_on(tag_of_list(ANY_TYPE))
        if format != JSON:
            text = "".join(redirect_rules(rows, cast(RuleFormat, format)))
            return Response(text.encode(), content_type=_TEXT)
        page = page_of(request)
        found = [DeliveredRedirectAnswer.of(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))
