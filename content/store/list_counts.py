"""Numbers of published posts on list pages, by language."""

from __future__ import annotations

from typing import cast

from django.db.models import Count, F, Max, Min, Q, QuerySet

from content.models import Post
from content.store.post_queries import published_posts
from proofroom.core.database.compiled_queries import Row

OF_OWN_LANGUAGE = Q(post_terms__term__locale="") | Q(post_terms__term__locale=F("locale"))
"""Terms of every language, and of the post's own. Lists show only posts with such terms."""


def count_by_locale(type: str) -> QuerySet[Post, Row]:
    """Return the number of published posts of a type in each language that has any."""
    rows = _published_of(type).values("locale").annotate(posts=Count("pk"))
    return cast("QuerySet[Post, Row]", rows)


def count_of_term_by_locale(type: str, taxonomy: str, term: str) -> QuerySet[Post, Row]:
    """Return the number of published posts of a type with a term in each language, with the term's own texts."""
    rows = (
        _published_of(type)
        .filter(
            OF_OWN_LANGUAGE,
            post_terms__term__taxonomy=taxonomy,
            post_terms__term__slug=term,
        )
        .values("locale")
        .annotate(
            posts=Count("pk", distinct=True),
            term_name=Min("post_terms__term__name"),
            term_description=Max("post_terms__term__description"),
        )
    )
    return cast("QuerySet[Post, Row]", rows)


def _published_of(type: str) -> QuerySet[Post]:
    return published_posts().filter(type=type).order_by()
