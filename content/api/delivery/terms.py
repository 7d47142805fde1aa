"""`/api/public/terms`: the terms of published posts with their descriptions, for frontends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.delivery.list_queries import MAX_VALUES, parse_ids
from content.api.delivery.viewset import DeliveredViewSet
from content.models import PostTerm
from content.store.post_queries import published_posts
from proofroom.core.api.answer import Answer, MetaAnswer
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import PAGES, parameter_names, query_parameter
from proofroom.core.caching.cache_tags import add_cache_tags, term_tag
from proofroom.core.caching.content_tags import ANY_TYPE, depend_on, tag_of_list
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom.definitions import post_types, taxonomies
from proofroom.definitions.listings import term_list_path
from proofroom.taxonomies.models import SLUG_MAX, Term, TermAnswer
from proofroom.taxonomies.rules import MAX_TERM_DEPTH

PARAMETERS: Final = [
    query_parameter("taxonomy", "The taxonomy; all without it."),
    query_parameter("locale", "The language; terms of every language are included."),
    query_parameter("slug", "The slug of the term.", {"type": "string", "maxLength": SLUG_MAX}),
    query_parameter("ids", f"Ids of terms with commas between them, at most {MAX_VALUES}."),
    *PAGES,
]


class DeliveredTermAnswer(TermAnswer):
    """A term. An empty `locale` means every language; `description` is plain text."""

    url: str | None = Field(
        description="The path of the list of posts with the term, of the first type that has such posts; null "
        "without one."
    )
    count: int = Field(
        ge=0, description="Published posts with the term, in the requested language."
    )


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
        locale = choice_in(request, "locale", settings.CMS_ENV.locales)
        found = _present(rows[page.slice], locale)
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
        return Response(_present([term], None)[0])


def _present(terms: Iterable[Term], locale: str | None) -> list[DeliveredTermAnswer]:
    """Return the answers of terms, with counts and lists in a language, or in all. One query, none without terms."""
    found = list(terms)
    uses = defaultdict[UUID, list[_Use]](list)
    for row in _USES.rows([term.pk for term in found]):
        if locale in (None, row["post__locale"]):
            uses[row["term_id"]].append(_Use(row["post__type"], row["post__locale"], row["posts"]))
    return [
        DeliveredTermAnswer.of(
            term,
            url=_list_of(term, uses[term.pk], locale),
            count=sum(use.posts for use in uses[term.pk]),
        )
        for term in found
    ]


@dataclass(frozen=True, slots=True)
class _Use:
    """The number of published posts of a type in a language with a term."""

    type: str
    locale: str
    posts: int


def _list_of(term: Term, uses: Iterable[_Use], locale: str | None) -> str | None:
    """Return the path of the list of posts with a term, preferably in the default language."""
    default = settings.CMS_ENV.default_locale
    order = {name: number for number, name in enumerate(post_types.names())}
    for use in sorted(
        uses,
        key=lambda use: (use.locale != (locale or default), use.locale, order.get(use.type, 0)),
    ):
        path = term_list_path(use.type, use.locale, term.taxonomy, term.slug, term.locale)
        if path:
            return path
    return None


_USES: Final = CompiledQuery(
    lambda term_ids: (
        PostTerm.objects.filter(term_id__in=term_ids, post__in=published_posts())
        .order_by()
        .values("term_id", "post__type", "post__locale")
        .annotate(posts=Count("post_id"))
    )
)


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
        rows = rows.filter(pk__in=parse_ids(query["ids"], "terms"))
    return rows
