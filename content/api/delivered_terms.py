"""`/api/public/terms`: the terms of published posts with their descriptions, for frontends."""

from __future__ import annotations

from typing import ClassVar, Final

from django.conf import settings
from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.cached_delivery import DeliveredViewSet
from content.models import PostTerm
from content.store.post_queries import published_posts
from proofroom.core.api.answer import Answer, MetaAnswer
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import PAGES, parameter_names, query_parameter
from proofroom.core.caching.cache_tags import add_cache_tags, term_tag
from proofroom.core.caching.content_tags import ANY_TYPE, depend_on, tag_of_list
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound, invalid
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import taxonomies
from proofroom.taxonomies.models import SLUG_MAX, Term, TermAnswer
from proofroom.taxonomies.rules import MAX_TERM_DEPTH

_MAX_IDS: Final = 100
PARAMETERS: Final = [
    query_parameter("taxonomy", "The taxonomy; all without it."),
    query_parameter("locale", "The language; terms of every language are included."),
    query_parameter("slug", "The slug of the term.", {"type": "string", "maxLength": SLUG_MAX}),
    query_parameter("ids", "Ids of terms with commas between them, at most 100."),
    *PAGES,
]


class DeliveredTermAnswer(TermAnswer):
    """A term. An empty `locale` means every language; `description` is plain text."""


class DeliveredTermListAnswer(Answer):
    """Terms in the order of their taxonomy."""

    data: list[DeliveredTermAnswer]
    meta: MetaAnswer


class PublicTermViewSet(DeliveredViewSet):
    """Terms of taxonomies."""

    permissions: ClassVar[dict[str, Declared]] = {"list": PUBLIC, "retrieve": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "list": parameter_names(PARAMETERS),
        "retrieve": frozenset(),
    }

    @extend_schema(parameters=PARAMETERS, responses=DeliveredTermListAnswer)
    def list(self, request: Request) -> Response:
        """List terms with their descriptions."""
        page = page_of(request)
        rows = _filtered(request).order_by("taxonomy", "order_index", "name", "id")
        found = [DeliveredTermAnswer.of(row) for row in rows[page.slice]]
        # Only terms of published posts are delivered.
        depend_on(tag_of_list(ANY_TYPE))
        add_cache_tags(*(term_tag(term.id) for term in found))
        return Response(page.envelope(found, rows.count()))

    @extend_schema(responses=DeliveredTermAnswer)
    def retrieve(self, request: Request, term_id: str) -> Response:
        """Return one term."""
        term = find_by_id(_delivered(), term_id)
        if term is None:
            raise NotFound(f"No term has the ID {term_id[:80]}.")
        depend_on(tag_of_list(ANY_TYPE))
        add_cache_tags(term_tag(term.pk))
        return Response(DeliveredTermAnswer.of(term))


def _delivered() -> QuerySet[Term]:
    """Return the terms of published posts, and the terms above them. Others may tell of drafts."""
    used = PostTerm.objects.filter(post__in=published_posts()).order_by().values("term_id")
    is_delivered = Q(pk__in=used)
    level = Term.objects.filter(pk__in=used)
    for _depth in range(MAX_TERM_DEPTH - 1):
        above = level.exclude(parent=None).order_by().values("parent_id")
        is_delivered |= Q(pk__in=above)
        level = Term.objects.filter(pk__in=above)
    # Terms stay after their taxonomy is removed from code, but are not delivered.
    return Term.objects.filter(is_delivered, taxonomy__in=taxonomies.names())


def _filtered(request: Request) -> QuerySet[Term]:
    rows = _delivered()
    query = request.query_params
    taxonomy = choice_in(request, "taxonomy", list(taxonomies.names()))
    if taxonomy is not None:
        rows = rows.filter(taxonomy=taxonomy)
    locale = choice_in(request, "locale", settings.CMS_ENV.locales)
    if locale is not None:
        rows = rows.filter(locale__in=["", locale])
    if "slug" in query:
        slug = query["slug"]
        # PostgreSQL refuses NUL characters in a query.
        rows = rows.filter(slug=slug) if "\x00" not in slug else rows.none()
    if "ids" in query:
        # One more than allowed is enough to be refused.
        names = query["ids"].split(",", _MAX_IDS + 1)
        ids = [id_ for id_ in map(parse_uuid, map(str.strip, names)) if id_ is not None]
        if len(names) > _MAX_IDS or len(ids) < len(names):
            raise invalid("ids", f"ids names at most {_MAX_IDS} terms, with commas between them.")
        rows = rows.filter(pk__in=ids)
    return rows
