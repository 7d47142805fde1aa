"""`/api/snippets`: saved modules and pieces of text."""

from __future__ import annotations

from typing import ClassVar, Final

from django.conf import settings
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import list_of
from proofroom.core.api.body import read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import LOCATION, PAGES, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.definitions import find_post_type
from proofroom_apps.snippets.models import Snippet
from proofroom_apps.snippets.services import (
    MANAGE,
    VIEW,
    change_snippet,
    create_snippet,
    delete_snippet,
    find_snippet,
    list_snippets,
)
from proofroom_apps.snippets.snippet_fields import (
    NewSnippet,
    SnippetAnswer,
    SnippetChanges,
    SnippetGoneAnswer,
)

PARAMETERS: Final = [
    query_parameter("type", "Snippets that posts of this type offer; all without it."),
    query_parameter("locale", "Snippets that posts in this language offer; all without it."),
    query_parameter(
        "kind", "Only snippets of this kind; all without it.", choice_schema(*Snippet.Kind.values)
    ),
    *PAGES,
]
EXAMPLE: Final = OpenApiExample(
    "A call to action",
    {
        "name": "Newsletter",
        "modules": [{"type": "cta", "props": {"title": "Get the newsletter"}}],
        "types": ["blog"],
    },
    request_only=True,
)


class SnippetViewSet(ApiViewSet):
    """Snippets: list, create, read, change, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": VIEW,
        "retrieve": VIEW,
        "create": MANAGE,
        "update": MANAGE,
        "destroy": MANAGE,
    }
    conditional = frozenset({"list", "retrieve"})

    @extend_schema(parameters=PARAMETERS, responses=list_of(SnippetAnswer, "Snippets, by name."))
    def list(self, request: Request) -> Response:
        """List snippets by name."""
        page = page_of(request)
        type_ = request.query_params.get("type")
        found = list_snippets(
            post_type="" if type_ is None else find_post_type(type_).name,
            locale=choice_in(request, "locale", settings.CMS_ENV.locales) or "",
            kind=choice_in(request, "kind", Snippet.Kind.values) or "",
            with_content=False,
        )
        ids = [row.pk for row in found[page.slice]]
        whole = Snippet.objects.in_bulk(ids)
        shown = [SnippetAnswer.of(whole[id_]) for id_ in ids if id_ in whole]
        return Response(page.envelope(shown, len(found)))

    @extend_schema(
        request=NewSnippet,
        responses={201: SnippetAnswer},
        parameters=[LOCATION],
        examples=[EXAMPLE],
    )
    def create(self, request: Request) -> Response:
        """Create a snippet from modules or a text."""
        row = create_snippet(actor=self.actor, snippet=read_body(request, NewSnippet))
        headers = {"Location": f"/api/snippets/{row.pk}"}
        return Response(SnippetAnswer.of(row), status=201, headers=headers)

    @extend_schema(responses=SnippetAnswer)
    def retrieve(self, request: Request, snippet_id: str) -> Response:
        """Return one snippet."""
        return Response(SnippetAnswer.of(find_snippet(snippet_id)))

    @extend_schema(request=SnippetChanges, responses=SnippetAnswer)
    def update(self, request: Request, snippet_id: str) -> Response:
        """Change a snippet; absent fields are unchanged. What was inserted from it stays."""
        body = read_body(request, SnippetChanges)
        row = change_snippet(
            snippet_id=snippet_id,
            actor=self.actor,
            changes=body,
            expected_version=expected_version(request, body.version),
        )
        return Response(SnippetAnswer.of(row))

    @extend_schema(responses={200: SnippetGoneAnswer})
    def destroy(self, request: Request, snippet_id: str) -> Response:
        """Delete a snippet. What was inserted from it stays."""
        return Response(
            SnippetGoneAnswer(id=delete_snippet(snippet_id=snippet_id, actor=self.actor))
        )
