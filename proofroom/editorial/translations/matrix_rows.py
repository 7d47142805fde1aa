"""The rows of the matrix of translations. A fixed number of queries, however many rows and languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from content.models import Layer, Post, QueuedChange
from content.review.labels import type_label
from content.translations.translation_status import TranslationState, states_of
from proofroom.editorial.posts.post_pages import post_url, review_url
from proofroom.editorial.posts.titles import title_of, with_proposed_titles


@dataclass(frozen=True, slots=True)
class Waits:
    """Changes that wait in a layer."""

    layer: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A post in one language; missing without one. `stale` counts values older than the source's."""

    locale: str
    post: Post | None = None
    title: str = ""
    url: str = ""
    is_original: bool = False
    stale: int = 0
    stale_url: str = ""
    waits: tuple[Waits, ...] = ()

    @property
    def is_missing(self) -> bool:
        return self.post is None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A post in every language."""

    post: Post
    title: str
    url: str
    type: str
    cells: tuple[MatrixCell, ...]

    @property
    def can_be_translated(self) -> bool:
        """A post that nobody approved yet has nothing to translate."""
        return not self.post.is_placeholder


def rows_of(originals: Sequence[Post], locales: Sequence[str]) -> list[MatrixRow]:
    """Eight queries at most."""
    groups = [post.translation_group for post in originals]
    posts = with_proposed_titles(Post.objects.alive().filter(translation_group__in=groups))
    by_place = {(post.translation_group, post.locale): post for post in posts}
    titles = {post.pk: title_of(post) for post in by_place.values()}
    states = states_of([post for post in by_place.values() if post.translated_from_id])
    waiting = _waiting([post.pk for post in by_place.values()])

    def cell(original: Post, locale: str) -> MatrixCell:
        post = by_place.get((original.translation_group, locale))
        if post is None:
            return MatrixCell(locale)
        return MatrixCell(
            locale,
            post,
            titles[post.pk],
            post_url("change", post),
            is_original=post.pk == original.pk,
            stale=_older(states.get(post.pk)),
            stale_url=post_url("translations", post),
            waits=waiting.get(post.pk, ()),
        )

    return [
        MatrixRow(
            post,
            titles.get(post.pk, post.title),
            post_url("change", post),
            type_label(post.type),
            tuple(cell(post, locale) for locale in locales),
        )
        for post in originals
    ]


def _older(state: TranslationState | None) -> int:
    if state is None:
        return 0
    return len(state.stale_paths) + len(state.new_modules) + len(state.removed_modules)


def _waiting(ids: Sequence[UUID]) -> Mapping[UUID, tuple[Waits, ...]]:
    found: dict[UUID, tuple[Waits, ...]] = defaultdict(tuple)
    rows = QueuedChange.objects.filter(post__in=ids).order_by("post_id", "layer")
    for row in rows.values("post_id", "layer").annotate(count=Count("pk")):
        post_id, layer = row["post_id"], Layer(row["layer"])
        found[post_id] += (Waits(layer, row["count"], review_url(str(post_id), layer)),)
    return found
