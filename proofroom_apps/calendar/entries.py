"""What happens when: publications, expiries, scheduled changes, releases and due dates of a period."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeVar
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from content.models import Post, ScheduledApproval, Status
from content.store.post_queries import listed_posts
from content.store.scopes import visible_to
from media.models import Asset
from media.scopes import visible_assets
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.definitions import steps_of
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.releases.models import EDITABLE, Release, ReleaseItem
from proofroom_apps.releases.queries import MANAGE
from proofroom_apps.steps.models import StepRound
from proofroom_apps.steps.queries import open_step, rounds_asking_person

MAX_PERIOD: Final = timedelta(days=93)
MAX_ENTRIES: Final = 1_000
"""Maximum number of entries of one kind in a period."""
EntryKind = Literal["publication", "expiry", "release", "due"]
KINDS: Final[tuple[EntryKind, ...]] = ("publication", "expiry", "release", "due")
EntrySource = Literal["publication", "expiry", "changes", "release", "comment", "step"]
"""Whose date it is: a post's `publishAt` or `unpublishAt`, scheduled changes, a release, a thread, an open step."""
_KIND_OF: Final[dict[EntrySource, EntryKind]] = {
    "publication": "publication",
    "changes": "publication",
    "expiry": "expiry",
    "release": "release",
    "comment": "due",
    "step": "due",
}
SOURCES: Final[tuple[EntrySource, ...]] = tuple(_KIND_OF)
Rows = TypeVar("Rows", bound=QuerySet[Any, Any])


@dataclass(frozen=True, slots=True)
class CalendarFilter:
    """Limits of a calendar, each empty for all. `person`: author of a post, maker of a date, or whom it asks."""

    type: str = ""
    locale: str = ""
    person: int | None = None


@dataclass(frozen=True, slots=True)
class CalendarEntry:
    """One moment. `id` is that of the post, the scheduled changes, the release or the comment.

    `is_past`: it has happened, so that it can't be moved. `step`: the name of the step that is due.
    """

    source: EntrySource
    at: datetime
    id: UUID
    title: str
    post_id: UUID | None = None
    asset_id: UUID | None = None
    is_past: bool = False
    step: str = ""

    @property
    def kind(self) -> EntryKind:
        return _KIND_OF[self.source]


@dataclass(frozen=True, slots=True)
class _Search:
    """What to look for: in a period, and with `only` a single object. `posts`: the posts that the actor may see."""

    begin: datetime
    end: datetime
    actor: Actor
    wanted: CalendarFilter = field(default_factory=CalendarFilter)
    only: UUID | None = None

    @property
    def posts(self) -> QuerySet[Post]:
        posts = visible_to(listed_posts(), self.actor)
        if self.wanted.type:
            posts = posts.filter(type=self.wanted.type)
        return posts.filter(locale=self.wanted.locale) if self.wanted.locale else posts

    @property
    def own_posts(self) -> QuerySet[Post]:
        """The posts of the wanted author."""
        person = self.wanted.person
        return self.posts.filter(author=person) if person is not None else self.posts

    def narrow(self, rows: Rows, column: str) -> Rows:
        """Return the first rows whose moment is in the period, in order of time."""
        found = rows.filter(**{f"{column}__gte": self.begin, f"{column}__lt": self.end})
        if self.only is not None:
            found = found.filter(pk=self.only)
        return found.order_by(column, "pk")[: MAX_ENTRIES + 1]


def list_entries(
    begin: datetime, end: datetime, actor: Actor, wanted: CalendarFilter | None = None
) -> list[CalendarEntry]:
    """Return what happens from `begin` until before `end`, in order of time. At most ten queries.

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
    """Return the first `MAX_ENTRIES` entries of a period, in order of time. At most ten queries."""
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
    search = _Search(begin, end, actor, wanted or CalendarFilter())
    found = [entry for source in SOURCES for entry in _FINDERS[source](search)]
    return sorted(found, key=lambda entry: (entry.at, KINDS.index(entry.kind), str(entry.id)))


def find_entry(source: EntrySource, entry_id: UUID, actor: Actor) -> CalendarEntry | None:
    """Return an entry as it is now; None if it has no date any more, or the actor may not see it. Two queries."""
    actor.require("posts.view")
    search = _Search(_FIRST_MOMENT, _LAST_MOMENT, actor, only=entry_id)
    # A post has one date of publication: the first one, or the one it waits for.
    return next(iter(_FINDERS[source](search)), None)


_FIRST_MOMENT: Final = datetime(1, 1, 2, tzinfo=UTC)
_LAST_MOMENT: Final = datetime(9999, 12, 30, tzinfo=UTC)


def _publications(search: _Search) -> Iterator[CalendarEntry]:
    """Yield the first publications of published posts, and the publications that drafts wait for. Two queries."""
    live = search.narrow(search.own_posts.filter(status=Status.PUBLISHED), "published_at")
    for pk, title, at in live.values_list("pk", "title", "published_at"):
        if at is not None:
            yield CalendarEntry("publication", at, pk, title, pk, is_past=True)
    waiting = search.narrow(search.own_posts.filter(status=Status.DRAFT), "publish_at")
    for pk, title, at in waiting.values_list("pk", "title", "publish_at"):
        if at is not None:
            yield CalendarEntry("publication", at, pk, title, pk)


def _expiries(search: _Search) -> Iterator[CalendarEntry]:
    rows = search.narrow(search.own_posts, "unpublish_at")
    for pk, title, at in rows.values_list("pk", "title", "unpublish_at"):
        if at is not None:
            yield CalendarEntry("expiry", at, pk, title, pk)


def _scheduled_changes(search: _Search) -> Iterator[CalendarEntry]:
    rows = ScheduledApproval.objects.filter(
        failed_at__isnull=True, post__in=search.posts.values("pk")
    )
    if search.wanted.person is not None:
        rows = rows.filter(by=search.wanted.person)
    for row in search.narrow(rows.select_related("post"), "at"):
        yield CalendarEntry("changes", row.at, row.pk, row.post.title, row.post_id)


def _releases(search: _Search) -> Iterator[CalendarEntry]:
    """Yield releases by the time they went live, or will. With a type or language, those with such a post."""
    if not search.actor.can(MANAGE):
        return
    wanted = search.wanted
    rows = Release.objects.annotate(moment=Coalesce("published_at", "at"))
    if wanted.person is not None:
        rows = rows.filter(Q(scheduled_by=wanted.person) | Q(created_by=wanted.person))
    if wanted.type or wanted.locale:
        items = ReleaseItem.objects.filter(
            release=OuterRef("pk"),
            kind__in=("post", "changes"),
            object_id__in=search.posts.values("pk"),
        )
        rows = rows.filter(Exists(items))
    found = search.narrow(rows, "moment").values_list("pk", "name", "moment", "state")
    for pk, name, at, state in found:
        yield CalendarEntry("release", at, pk, name, is_past=state not in EDITABLE)


def _due_threads(search: _Search) -> Iterator[CalendarEntry]:
    """Yield the due dates of open threads. Those on files only without a type and a language."""
    actor, wanted = search.actor, search.wanted
    if not actor.can("comments.view"):
        return
    places = Q(post__in=search.posts.values("pk"))
    if not wanted.type and not wanted.locale and actor.can("media.view"):
        places |= Q(asset__in=visible_assets(Asset.objects.all(), actor).values("pk"))
    rows = Comment.objects.filter(places, status=CommentStatus.OPEN, parent=None)
    if wanted.person is not None:
        rows = rows.filter(assignee=wanted.person)
    for row in search.narrow(rows.select_related("post", "asset"), "due_at"):
        title = row.post.title if row.post is not None else ""
        if row.asset is not None:
            title = row.asset.filename
        if row.due_at is not None:
            yield CalendarEntry("comment", row.due_at, row.pk, title, row.post_id, row.asset_id)


def _due_steps(search: _Search) -> Iterator[CalendarEntry]:
    """Yield the due dates of open editorial steps. With a person one more query."""
    rows = StepRound.objects.exclude(step="")
    if search.wanted.person is not None:
        user = User.objects.filter(pk=search.wanted.person).first()
        rows = rounds_asking_person(user) if user is not None else rows.none()
    rows = rows.filter(post__in=search.posts.values("pk"))
    for row in search.narrow(rows.select_related("post"), "due_at"):
        # A step that was taken out of the definition asks nobody.
        if row.due_at is not None and open_step(row, steps_of(row.post.type)) is not None:
            post = row.post
            yield CalendarEntry("step", row.due_at, post.pk, post.title, post.pk, step=row.step)


_FINDERS: Final[dict[EntrySource, Callable[[_Search], Iterator[CalendarEntry]]]] = {
    "publication": _publications,
    "expiry": _expiries,
    "changes": _scheduled_changes,
    "release": _releases,
    "comment": _due_threads,
    "step": _due_steps,
}
