"""What happens when: publications, expiries, scheduled changes, releases and due dates of a period."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from content.models import Post, ScheduledApproval, Status
from content.store.post_queries import listed_posts
from content.store.scopes import visible_to
from media.models import Asset
from media.scopes import visible_assets
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.releases.models import Release, ReleaseItem
from proofroom_apps.releases.queries import MANAGE

MAX_PERIOD: Final = timedelta(days=93)
MAX_ENTRIES: Final = 1_000
"""Maximum number of entries of one kind in a period."""
EntryKind = Literal["publication", "expiry", "release", "due"]
KINDS: Final[tuple[EntryKind, ...]] = ("publication", "expiry", "release", "due")


@dataclass(frozen=True, slots=True)
class CalendarFilter:
    """Limits of a calendar, each empty for all. `person`: the author of a post, the maker of a date, the assignee."""

    type: str = ""
    locale: str = ""
    person: int | None = None


@dataclass(frozen=True, slots=True)
class CalendarEntry:
    """One moment. `id` is that of the post, the scheduled changes, the release or the comment.

    `is_past`: it has happened, so that it can't be moved.
    """

    kind: EntryKind
    at: datetime
    id: UUID
    title: str
    post_id: UUID | None = None
    asset_id: UUID | None = None
    is_past: bool = False


def list_entries(
    begin: datetime, end: datetime, actor: Actor, wanted: CalendarFilter | None = None
) -> list[CalendarEntry]:
    """Return what happens from `begin` until before `end`, in order of time. At most eight queries.

    Only what the actor may see. Raises `RuleViolation` on `to` for a period that is too long or has too much.
    """
    found = _find_entries(begin, end, actor, wanted)
    if len(found) > MAX_ENTRIES:
        message = _("There are more than %(most)s entries. Choose a shorter period.")
        raise RuleViolation(
            message % {"most": f"{MAX_ENTRIES:,}"},
            code="too_many",
            details={"to": [message % {"most": f"{MAX_ENTRIES:,}"}]},
        )
    return found


def list_first_entries(begin: datetime, end: datetime, actor: Actor) -> list[CalendarEntry]:
    """Return the first `MAX_ENTRIES` entries of a period, in order of time. At most eight queries."""
    return _find_entries(begin, end, actor, None)[:MAX_ENTRIES]


def _find_entries(
    begin: datetime, end: datetime, actor: Actor, wanted: CalendarFilter | None
) -> list[CalendarEntry]:
    """Return the entries in order of time: more than `MAX_ENTRIES` if there are more, but perhaps not all of them."""
    actor.require("posts.view")
    if not begin < end:
        raise invalid("to", _("The period must end after it begins."))
    if end - begin > MAX_PERIOD:
        message = _("A calendar shows at most %(days)s days.")
        raise invalid("to", message % {"days": MAX_PERIOD.days})
    asked = wanted or CalendarFilter()
    posts = visible_to(listed_posts(), actor)
    if asked.type:
        posts = posts.filter(type=asked.type)
    if asked.locale:
        posts = posts.filter(locale=asked.locale)
    found = [
        *_publications(posts, begin, end, asked),
        *_expiries(posts, begin, end, asked),
        *_scheduled_changes(posts, begin, end, asked),
        *_releases(posts, begin, end, actor, asked),
        *_due_dates(posts, begin, end, actor, asked),
    ]
    return sorted(found, key=lambda entry: (entry.at, KINDS.index(entry.kind), str(entry.id)))


def _of_author(posts: QuerySet[Post], asked: CalendarFilter) -> QuerySet[Post]:
    return posts.filter(author=asked.person) if asked.person is not None else posts


def _publications(
    posts: QuerySet[Post], begin: datetime, end: datetime, asked: CalendarFilter
) -> Iterator[CalendarEntry]:
    """Yield the first publications of published posts, and the publications that drafts wait for. Two queries."""
    own = _of_author(posts, asked)
    live = own.filter(status=Status.PUBLISHED, published_at__gte=begin, published_at__lt=end)
    for pk, title, at in _first(live, "published_at"):
        yield CalendarEntry("publication", at, pk, title, pk, is_past=True)
    waiting = own.filter(status=Status.DRAFT, publish_at__gte=begin, publish_at__lt=end)
    for pk, title, at in _first(waiting, "publish_at"):
        yield CalendarEntry("publication", at, pk, title, pk)


def _expiries(
    posts: QuerySet[Post], begin: datetime, end: datetime, asked: CalendarFilter
) -> Iterator[CalendarEntry]:
    rows = _of_author(posts, asked).filter(unpublish_at__gte=begin, unpublish_at__lt=end)
    for pk, title, at in _first(rows, "unpublish_at"):
        yield CalendarEntry("expiry", at, pk, title, pk)


def _first(posts: QuerySet[Post], column: str) -> Iterable[tuple[UUID, str, datetime]]:
    rows = posts.order_by(column, "pk").values_list("pk", "title", column)
    return list(rows[: MAX_ENTRIES + 1])


def _scheduled_changes(
    posts: QuerySet[Post], begin: datetime, end: datetime, asked: CalendarFilter
) -> Iterator[CalendarEntry]:
    rows = ScheduledApproval.objects.filter(
        at__gte=begin, at__lt=end, failed_at__isnull=True, post__in=posts.values("pk")
    )
    if asked.person is not None:
        rows = rows.filter(by=asked.person)
    for row in rows.select_related("post").order_by("at", "pk")[: MAX_ENTRIES + 1]:
        yield CalendarEntry("publication", row.at, row.pk, row.post.title, row.post_id)


def _releases(
    posts: QuerySet[Post], begin: datetime, end: datetime, actor: Actor, asked: CalendarFilter
) -> Iterator[CalendarEntry]:
    """Yield releases by the time they went live, or will. With a type or language, those with such a post."""
    if not actor.can(MANAGE):
        return
    rows = Release.objects.annotate(moment=Coalesce("published_at", "at"))
    rows = rows.filter(moment__gte=begin, moment__lt=end)
    if asked.person is not None:
        rows = rows.filter(Q(scheduled_by=asked.person) | Q(created_by=asked.person))
    if asked.type or asked.locale:
        items = ReleaseItem.objects.filter(
            release=OuterRef("pk"), kind__in=("post", "changes"), object_id__in=posts.values("pk")
        )
        rows = rows.filter(Exists(items))
    columns = ("pk", "name", "moment", "published_at")
    found = rows.order_by("moment", "pk").values_list(*columns)[: MAX_ENTRIES + 1]
    for pk, name, at, published_at in found:
        yield CalendarEntry("release", at, pk, name, is_past=published_at is not None)


def _due_dates(
    posts: QuerySet[Post], begin: datetime, end: datetime, actor: Actor, asked: CalendarFilter
) -> Iterator[CalendarEntry]:
    """Yield the due dates of open threads. Those on files only without a type and a language."""
    if not actor.can("comments.view"):
        return
    places = Q(post__in=posts.values("pk"))
    if not asked.type and not asked.locale and actor.can("media.view"):
        places |= Q(asset__in=visible_assets(Asset.objects.all(), actor).values("pk"))
    rows = Comment.objects.filter(
        places, status=CommentStatus.OPEN, parent=None, due_at__gte=begin, due_at__lt=end
    )
    if asked.person is not None:
        rows = rows.filter(assignee=asked.person)
    rows = rows.select_related("post", "asset").order_by("due_at", "pk")
    for row in rows[: MAX_ENTRIES + 1]:
        title = row.post.title if row.post is not None else ""
        if row.asset is not None:
            title = row.asset.filename
        if row.due_at is not None:
            yield CalendarEntry("due", row.due_at, row.pk, title, row.post_id, row.asset_id)
