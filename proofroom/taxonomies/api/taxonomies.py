"""`/api/taxonomies`: taxonomies and their terms."""

from __future__ import annotations

from typing import ClassVar, Final, Self
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, MetaAnswer, list_of
from proofroom.core.api.body import read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import PAGES, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from proofroom.definitions import Taxonomy, post_types, taxonomies
from proofroom.taxonomies.models import NewTerm, Term, TermAnswer, TermChanges, TermNodeAnswer
from proofroom.taxonomies.services import change_term, create_term, delete_term, require_taxonomy

TERM_PARAMETERS: Final = [
    query_parameter(
        "locale",
        "Terms of this language and those of every language; all without it.",
    ),
    *PAGES,
]
FORCE_PARAMETER: Final = [
    query_parameter(
        "force",
        "true: also where posts carry it or drafts propose it.",
        choice_schema("true", "false"),
    )
]


class TaxonomyUseAnswer(Answer):
    """A post type that uses a taxonomy."""

    slug: str
    max_selections: int | None = Field(ge=0)


class TaxonomyAnswer(Answer):
    """A way to sort posts."""

    slug: str
    name: str
    description: str
    hierarchical: bool
    free_tagging: bool
    post_types: list[TaxonomyUseAnswer]

    @classmethod
    def of_definition(cls, definition: type[Taxonomy]) -> Self:
        """Return the taxonomy with the post types that use it."""
        return cls(
            slug=definition.name,
            name=definition.label,
            description=definition.description,
            hierarchical=definition.hierarchical,
            free_tagging=definition.free_tagging,
            post_types=[
                TaxonomyUseAnswer(slug=post_type.name, max_selections=use.max_selections)
                for post_type in post_types
                for use in post_type.taxonomies
                if use.slug == definition.name
            ],
        )


class TermListAnswer(Answer):
    """The roots of a taxonomy, each with its descendants. The total counts roots."""

    data: list[TermNodeAnswer]
    meta: MetaAnswer


class TermGoneAnswer(Answer):
    """The term that was deleted."""

    id: UUID


class TaxonomyViewSet(ApiViewSet):
    """Taxonomies and their terms."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "terms": "posts.view",
        "create": "taxonomies.edit",
        "update": "taxonomies.edit",
        "destroy": "taxonomies.edit",
    }
    conditional = frozenset({"list", "terms"})

    @extend_schema(parameters=PAGES, responses=list_of(TaxonomyAnswer, "Taxonomies."))
    def list(self, request: Request) -> Response:
        """List taxonomies and the post types that use each."""
        page = page_of(request)
        found = [*taxonomies]
        rows = [TaxonomyAnswer.of_definition(definition) for definition in found[page.slice]]
        return Response(page.envelope(rows, len(found)))

    @extend_schema(parameters=TERM_PARAMETERS, responses=TermListAnswer)
    def terms(self, request: Request, slug: str) -> Response:
        """List the terms as trees. Pages count roots, each with all its descendants."""
        page = page_of(request)
        # PostgreSQL refuses NUL characters in a query.
        terms = Term.objects.filter(taxonomy=slug) if "\x00" not in slug else Term.objects.none()
        # Terms stay after their taxonomy is removed from code.
        if slug not in taxonomies and not terms.exists():
            require_taxonomy(slug)
        terms = terms.order_by("order_index", "name", "id")
        locale = choice_in(request, "locale", settings.CMS_ENV.locales)
        if locale is not None:
            # Terms without a locale are for every language.
            terms = terms.filter(locale__in=["", locale])
        roots = terms.filter(parent__isnull=True)
        page_roots = [*roots[page.slice]]
        below = terms.filter(parent__isnull=False) if page_roots else terms.none()
        # Children are appended in the order of the query.
        rows = list(below)
        nodes = {
            row.pk: TermNodeAnswer(**TermAnswer.of(row).model_dump(), children=[])
            for row in [*page_roots, *rows]
        }
        for row in rows:
            # The parent is missing if it is a root on another page.
            if row.parent_id in nodes:
                nodes[row.parent_id].children.append(nodes[row.pk])
        return Response(page.envelope([nodes[row.pk] for row in page_roots], roots.count()))

    @extend_schema(request=NewTerm, responses={201: TermAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Create a term. Its parent must have the same taxonomy and language."""
        require_taxonomy(slug)
        body = read_body(request, NewTerm)
        term = create_term(actor=self.actor, taxonomy=slug, **body.model_dump())
        return Response(TermAnswer.of(term), status=201)

    @extend_schema(request=TermChanges, responses=TermAnswer)
    def update(self, request: Request, term_id: str) -> Response:
        """Change a term; absent fields stay unchanged."""
        body = read_body(request, TermChanges)
        changes = body.model_dump(exclude_unset=True)
        term = change_term(term_id=term_id, actor=self.actor, **changes)
        return Response(TermAnswer.of(term))

    @extend_schema(parameters=FORCE_PARAMETER, responses={200: TermGoneAnswer})
    def destroy(self, request: Request, term_id: str) -> Response:
        """Delete a term; its children move up. 409 `in_use` if posts carry it, unless forced."""
        force = request.query_params.get("force", "false")
        if force not in ("true", "false"):
            raise invalid("force", "force must be true or false.")
        gone = delete_term(term_id=term_id, actor=self.actor, force=force == "true")
        return Response(TermGoneAnswer(id=gone))
