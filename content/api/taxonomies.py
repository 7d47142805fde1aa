"""`/api/taxonomies`: how posts are sorted, and the terms they are sorted by."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.schema import taxonomies as schema
from content.definitions import taxonomies
from content.models import Term
from content.presenters import taxonomy as presenters
from content.rules.taxonomy import NAME_MAX, ORDER_MAX, SLUG_MAX, TOP
from content.services.taxonomy import change_term, create_term, delete_term, require_taxonomy
from core.api.body import Body, Words, body_object, check
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet
from core.errors import invalid

_READ_ONLY: Final = ("id", "taxonomy", "children")


class NewTerm(Body):
    """A term. Other keys that a GET answers are ignored."""

    name: Words = Field(min_length=1, max_length=NAME_MAX)
    slug: Words | None = Field(None, max_length=SLUG_MAX, description="From the name without it.")
    parent_id: Words | None = Field(None, max_length=80, description="Id of the term above.")
    locale: Words | None = Field(
        None, max_length=12, description="The default locale without it; empty: every language."
    )
    order_index: int = Field(0, ge=-ORDER_MAX, le=ORDER_MAX)


class TermChanges(Body):
    """What to change of a term; what is absent stays. Other keys that a GET answers are ignored."""

    name: Words | None = Field(None, min_length=1, max_length=NAME_MAX)
    slug: Words | None = Field(None, min_length=1, max_length=SLUG_MAX)
    parent_id: Words | None = Field(None, max_length=80, description="null: a root.")
    order_index: int | None = Field(None, ge=-ORDER_MAX, le=ORDER_MAX)


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

    @extend_schema(parameters=schema.TAXONOMY_PARAMETERS, responses=schema.TaxonomyListSchema)
    def list(self, request: Request) -> Response:
        """The taxonomies, and the post types that use each."""
        page = page_of(request)
        found = [*taxonomies]
        rows = [presenters.taxonomy(definition) for definition in found[page.slice]]
        return Response(page.envelope(rows, len(found)))

    @extend_schema(parameters=schema.TERM_PARAMETERS, responses=schema.TermListSchema)
    def terms(self, request: Request, slug: str) -> Response:
        """The terms as a tree; a page has so many roots, each with all that stands below it."""
        page = page_of(request)
        terms = Term.objects.filter(taxonomy=slug) if "\x00" not in slug else Term.objects.none()
        if slug not in taxonomies and not terms.exists():  # terms outlive their taxonomy
            require_taxonomy(slug)
        terms = terms.order_by("order_index", "name", "id")
        locale = request.query_params.get("locale")
        if locale is not None:
            if locale not in settings.CMS_ENV.locales:
                known = ", ".join(settings.CMS_ENV.locales)
                raise invalid("locale", f"locale must be one of: {known}.")
            terms = terms.filter(locale__in=["", locale])
        roots = terms.filter(parent__isnull=True)
        shown = [*roots[page.slice]]
        below = terms.filter(parent__isnull=False) if shown else terms.none()
        return Response(page.envelope(presenters.term_tree(shown, below), roots.count()))

    @extend_schema(request=NewTerm, responses={201: schema.TermSchema})
    def create(self, request: Request, slug: str) -> Response:
        """Make a term. Its parent is of the same taxonomy and language."""
        require_taxonomy(slug)
        body = check(_written(request), NewTerm)
        term = create_term(
            actor=self.actor,
            taxonomy=slug,
            name=body.name,
            slug=body.slug,
            locale=body.locale,
            parent_id=body.parent_id,
            order_index=body.order_index,
        )
        return Response(presenters.term(term), status=201)

    @extend_schema(request=TermChanges, responses=schema.TermSchema)
    def update(self, request: Request, term_id: str) -> Response:
        """Change a term; what is absent stays."""
        body = check(_written(request, "locale"), TermChanges)
        term = change_term(
            term_id=term_id,
            actor=self.actor,
            name=body.name,
            slug=body.slug,
            parent_id=body.parent_id if "parent_id" in body.model_fields_set else TOP,
            order_index=body.order_index,
        )
        return Response(presenters.term(term))

    @extend_schema(parameters=schema.FORCE, responses={200: schema.TermGoneSchema})
    def destroy(self, request: Request, term_id: str) -> Response:
        """Delete a term; those below it move up. 409 `in_use` where posts carry it, unless forced."""
        force = request.query_params.get("force", "false")
        if force not in ("true", "false"):
            raise invalid("force", "force must be true or false.")
        gone = delete_term(term_id=term_id, actor=self.actor, force=force == "true")
        return Response({"id": gone})


def _written(request: Request, *ignored: str) -> dict[str, Any]:
    left_out = (*_READ_ONLY, *ignored)
    return {name: value for name, value in body_object(request).items() if name not in left_out}
