"""Posts by how their translations stand: what the matrix of translations is narrowed to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from content.models import CopyOrigin, Post, PostQuerySet, QueuedChange, Status

STATES: Final = ("missing", "draft", "changed", "waiting")
_COLUMNS: Final = ("pk", "type", "locale", "title", "status", "translation_group", "is_placeholder")


@dataclass(frozen=True, slots=True)
class MatrixFilter:
    """The filter of the table; empty is everything. `state` is one of `STATES`, in `locale` where one is named."""

    words: str = ""
    type: str = ""
    locale: str = ""
    state: str = ""


def list_originals(
    asked: MatrixFilter, types: Iterable[str], locales: Sequence[str]
) -> QuerySet[Post]:
    """One post for each group of translations, the one that was there first; what changed last comes first."""
    posts = Post.objects.alive().filter(type__in=list(types))
    earlier = Q(created_at__lt=OuterRef("created_at")) | Q(
        created_at=OuterRef("created_at"), pk__lt=OuterRef("pk")
    )
    rows: QuerySet[Post] = posts.filter(~Exists(_group().filter(earlier)))
    if asked.type:
        rows = rows.filter(type=asked.type)
    if asked.words:
        rows = rows.filter(Exists(_group().filter(title__icontains=asked.words)))
    if asked.state:
        rows = _in_state(rows, asked, locales)
    return rows.order_by("-updated_at", "pk").only(*_COLUMNS)


def _group() -> PostQuerySet:
    """The posts of the group of an outer post, itself among them."""
    return Post.objects.alive().filter(translation_group=OuterRef("translation_group"))


def _in_state(rows: QuerySet[Post], asked: MatrixFilter, locales: Sequence[str]) -> QuerySet[Post]:
    group = _group().filter(locale=asked.locale) if asked.locale else _group()
    if asked.state == "missing":
        if asked.locale:
            return rows.filter(~Exists(group))
        there = _group().filter(locale__in=list(locales)).order_by().values("translation_group")
        counts = Subquery(there.annotate(count=Count("pk")).values("count"), IntegerField())
        return rows.alias(there=Coalesce(counts, 0)).filter(there__lt=len(locales))
    if asked.state == "draft":
        return rows.filter(Exists(group.filter(status=Status.DRAFT)))
    if asked.state == "waiting":
        waiting = QueuedChange.objects.filter(post=OuterRef("pk"))
        return rows.filter(Exists(group.filter(Exists(waiting))))
    older = CopyOrigin.objects.filter(
        post=OuterRef("pk"), updated_at__lt=OuterRef("translated_from__updated_at")
    )
    return rows.filter(Exists(group.filter(Exists(older))))
