"""Queries of the inbox lists. One query per function, if not stated otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.db.models import Case, Count, F, Max, QuerySet, TextField, When
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast
from django.utils import timezone

from content.inbox.rows import row_state_prefix
from content.models import QueuedChange
from content.store.scopes import filter_by_changeable_post
from proofroom.core.content_scope import Scoped
from proofroom.core.observability.metrics import MetricReading, count_readings

AGES: Final = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}
# The title of a proposed post is only in its draft.
_PROPOSED: Final = Cast(
    KeyTextTransform("title", KeyTransform("post", F("draft__document"))), TextField()
)
_LIKE_LEAST: Final = 3


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """The filter of a list; empty values match everything. `age` is a key of `AGES`, or `older-` and a key."""

    layer: str = ""
    risk: str = ""
    agent: str = ""
    author: str = ""
    type: str = ""
    locale: str = ""
    age: str = ""
    like: str = ""

    @property
    def is_narrowed(self) -> bool:
        values = (self.risk, self.agent, self.author, self.type, self.locale, self.age)
        return any(values)


@dataclass(frozen=True, slots=True)
class Facets:
    """Filter values with their number of changes."""

    layer: Counter[str] = field(default_factory=Counter)
    risk: Counter[str] = field(default_factory=Counter)
    agent: Counter[str] = field(default_factory=Counter)
    author: Counter[str] = field(default_factory=Counter)
    type: Counter[str] = field(default_factory=Counter)
    locale: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class SimilarChanges:
    """Identical changes of several posts with the same kind of origin."""

    like: str
    count: int
    weight: int
    example: QueuedChange


def queue(who: Scoped) -> QuerySet[QueuedChange]:
    """Return the waiting changes of posts that are not in the trash and that the user may change."""
    return filter_by_changeable_post(
        QueuedChange.objects.filter(post__deleted_at__isnull=True), who
    )


def filter_queue(asked: QueueFilter, who: Scoped) -> QuerySet[QueuedChange]:
    """Return the changes that match the filter, riskiest first."""
    rows = queue(who)
    if asked.risk:
        rows = rows.filter(weight=int(asked.risk))
    exact = {
        "layer": asked.layer,
        "agent_id": asked.agent,
        "post__type": asked.type,
        "post__locale": asked.locale,
    }
    rows = rows.filter(**{name: value for name, value in exact.items() if value})
    if asked.author:
        rows = rows.filter(agent_id="", author_name=asked.author)
    if asked.like:
        rows = rows.filter(like=asked.like, is_whole=True)
    if asked.age:
        since = timezone.now() - AGES[asked.age.removeprefix("older-")]
        rows = (
            rows.filter(at__lt=since)
            if asked.age.startswith("older-")
            else rows.filter(at__gte=since)
        )
    return rows.order_by("-weight", "rank", "-at", "-pk")


def join_posts(rows: QuerySet[QueuedChange]) -> QuerySet[QueuedChange]:
    """Add the post columns of a list line. `proposed_title` is None except for placeholders."""
    columns = ("type", "locale", "title", "status", "is_placeholder", "path")
    return (
        rows.annotate(proposed_title=Case(When(post__is_placeholder=True, then=_PROPOSED)))
        .select_related("post")
        .only(
            *[column.name for column in QueuedChange._meta.concrete_fields],
            *(f"post__{name}" for name in columns),
        )
    )


def count_facets(who: Scoped) -> Facets:
    """Return the number of waiting changes by filter value."""
    found = Facets()
    by = ("layer", "weight", "agent_id", "author_name", "post__type", "post__locale")
    for row in queue(who).order_by().values(*by).annotate(count=Count("pk")):
        count = row["count"]
        found.layer[row["layer"]] += count
        found.risk[str(row["weight"])] += count
        found.type[row["post__type"]] += count
        found.locale[row["post__locale"]] += count
        if row["agent_id"]:
            found.agent[row["agent_id"]] += count
        elif row["author_name"]:
            found.author[row["author_name"]] += count
    return found


def group_similar(asked: QueueFilter, most: int, who: Scoped) -> list[SimilarChanges]:
    """Return the largest groups of similar changes that match the filter. Two queries."""
    counted = (
        filter_queue(asked, who)
        .filter(is_whole=True)
        .order_by()
        .values("like")
        .annotate(count=Count("pk"), top=Max("weight"), first=Max("pk"))
        .filter(count__gte=_LIKE_LEAST)
        .order_by("-count", "like")
    )
    found = list(counted[:most])
    examples = join_posts(queue(who)).in_bulk([row["first"] for row in found])
    return [
        SimilarChanges(row["like"], row["count"], row["top"], examples[row["first"]])
        for row in found
        if row["first"] in examples
    ]


def filter_safe_rows(ids: Collection[int], who: Scoped) -> set[int]:
    """Return the rows that may be accepted from the list: safe by the current rules and shown completely.

    One query.
    """
    rows = queue(who).filter(
        pk__in=ids, weight=1, is_whole=True, state__startswith=row_state_prefix()
    )
    return set(rows.values_list("pk", flat=True))


@dataclass(frozen=True, slots=True)
class WaitingPost:
    """A layer of a post with waiting changes."""

    change: QueuedChange
    count: int
    weight: int


def list_waiting_posts(
    layers: Iterable[str], most: int, who: Scoped
) -> dict[str, list[WaitingPost]]:
    """Return posts by layer, riskiest first, then newest. One query per layer, plus one."""
    groups = {
        layer: list(
            queue(who)
            .filter(layer=layer)
            .order_by()
            .values("draft")
            .annotate(count=Count("pk"), top=Max("weight"), latest=Max("at"), first=Max("pk"))
            .order_by("-top", "-latest", "draft")[:most]
        )
        for layer in layers
    }
    examples = join_posts(queue(who)).in_bulk(
        [group["first"] for found in groups.values() for group in found]
    )
    return {
        layer: [
            WaitingPost(examples[group["first"]], group["count"], group["top"])
            for group in found
            if group["first"] in examples
        ]
        for layer, found in groups.items()
    }


def read_inbox_metrics() -> list[MetricReading]:
    """Return the number of waiting changes by layer. One query."""
    counts = QueuedChange.objects.values_list("layer").annotate(Count("pk")).order_by("layer")
    return count_readings(
        "proofroom_changes_waiting", "Changes that wait for a decision.", "layer", counts
    )
