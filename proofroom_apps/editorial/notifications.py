"""Notifications about posts: waiting reviews, decisions, dates and finished jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.event_kinds import EXPIRY, SCHEDULE
from content.models import DecisionBatch, Layer, Post, Provenance, RejectedChange
from content.posts.schedule import SCHEDULE_FAILED, maker_of
from content.store.publish_permissions import PUBLISH
from proofroom.accounts.models import User
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom.notifications.services import users_with_permission
from proofroom_apps.comments.queries import open_threads, people_in_threads
from proofroom_apps.editorial.posts.post_pages import (
    layer_label,
    post_url,
    review_url,
    title_of,
    with_proposed_titles,
)

_WAITING_IN: Final = {
    "post.review.save": Layer.REVIEW,
    "post.ai-review.save": Layer.AI_REVIEW,
    "post.ai-review.approve": Layer.REVIEW,
}
_APPROVED: Final = "post.review.approve"
_CHANGES: Final = "changes"
_REJECTED: Final = ("post.review.reject", "post.ai-review.reject")


def _find_waiting(event: Event) -> list[Notice]:
    """Return a notice for the users who may decide, except the sender. A layer is one line with its posts."""
    if event.post_id is None:  # permanently deleted since
        return []
    people = users_with_permission("posts.review.approve", but=event.actor_id)
    return [Notice(people, _WAITING_IN[event.name], str(event.post_id))]


def _describe_waiting(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    posts = _posts_of(rows)
    texts = {}
    for row in rows:
        layer, first = Layer(row.group), posts.get(row.subjects[0])
        names = {
            "title": title_of(first) if first else _("a deleted post"),
            "layer": layer_label(layer),
            "count": row.count - 1,
        }
        if row.count == 1:
            text = _("Changes to “%(title)s” are waiting in %(layer)s") % names
            url = review_url(first, layer) if first else ""
        else:
            text = (
                ngettext(
                    ("Changes to “%(title)s” and %(count)s other post are waiting in %(layer)s"),
                    ("Changes to “%(title)s” and %(count)s other posts are waiting in %(layer)s"),
                    row.count - 1,
                )
                % names
            )
            url = reverse("admin:inbox")
        texts[row.pk] = NotificationText(text, url, "inbox")
    return texts


def _find_decided(event: Event) -> list[Notice]:
    """Return a notice for the authors of the decided changes, except the reviewer."""
    if event.name == _APPROVED:
        written = Provenance.objects.filter(
            post=event.post_id, revision__reason="approved", created_at__lte=event.created_at
        )
        # The event doesn't contain its revision, which is the latest approved one up to its time.
        latest = written.order_by("-revision__version").values("revision")[:1]
        authors = set(written.filter(revision__in=latest).values_list("author", flat=True))
    else:
        proposals = RejectedChange.objects.filter(rejection=event.pk).values_list(
            "proposal__marks", flat=True
        )
        authors = {mark.get("user_id") for marks in proposals if marks for mark in marks.values()}
    people = sorted(authors - {None, event.actor_id})
    if not people or event.post_id is None:
        return []
    return [Notice(people, f"{event.name}:{event.post_id}", str(event.post_id))]


def _describe_decided(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    posts = _posts_of(rows)
    events = Event.objects.in_bulk([row.event_id for row in rows])
    texts = {}
    for row in rows:
        post, event = posts.get(row.subjects[0]), events.get(row.event_id)
        is_approved = row.group.startswith(_APPROVED)
        names = {
            "title": title_of(post) if post else _("a deleted post"),
            "who": event.actor_name if event else _("Somebody"),
        }
        text = (
            _("%(who)s approved your changes to “%(title)s”")
            if is_approved
            else _("%(who)s rejected your changes to “%(title)s”")
        )
        url = post_url("change" if is_approved else "revisions", post) if post else ""
        note = "" if is_approved or event is None else str(event.payload.get("note") or "")
        texts[row.pk] = NotificationText(
            text % names, url, "check" if is_approved else "close", note
        )
    return texts


def _find_failed(event: Event) -> list[Notice]:
    """Return a notice for the author and for who set the date.

    Also for all who may set it again, if who set it no longer may.
    """
    post_id = event.post_id
    if post_id is None:  # permanently deleted since
        return []
    authors = Post.objects.filter(pk=post_id, author__isnull=False)
    people = set(authors.values_list("author", flat=True))
    what, is_anonymous = event.payload.get("what"), False
    if what == "changes":
        permission, maker = "posts.review.approve", event.actor_id
    else:
        row = maker_of(post_id, "expiry" if what == "expiry" else "publication")
        permission, maker = PUBLISH, row.approved_by_id if row is not None else None
        is_anonymous = row is None
    if maker is not None:
        people |= {maker}
    if not _covers(maker, permission, post_id) and not (is_anonymous and people):
        people |= {*users_with_permission(permission, but=None)}
    return [Notice(sorted(people), str(post_id), str(post_id))]


def _covers(user_id: int | None, permission: str, post_id: UUID) -> bool:
    """Return whether the account's permission covers the post: its role may be limited to other content since."""
    if user_id is None:
        return False
    user, post = User.objects.filter(pk=user_id).first(), Post.objects.filter(pk=post_id).first()
    return user is not None and post is not None and user.has_perm(permission, post)


def _find_carried_out(event: Event) -> list[Notice]:
    """Return a notice for the author of the post, who set the date, and who is in an open thread on the post.

    A kind of date is a line.
    """
    cause = event.payload.get("cause")
    if event.post_id is None or cause not in (SCHEDULE, EXPIRY):
        return []
    authors = Post.objects.filter(pk=event.post_id, author__isnull=False)
    people = set(authors.values_list("author", flat=True))
    if event.name == _APPROVED and event.actor_id is not None:
        people.add(event.actor_id)
    elif event.name == "post.updated" and cause != EXPIRY:
        return []  # the changes have their own event
    else:
        maker = maker_of(event.post_id, "expiry" if cause == EXPIRY else "publication")
        people |= {maker.approved_by_id} if maker is not None and maker.approved_by_id else set()
    people |= people_in_threads(open_threads(event.post_id))
    # Lines of earlier versions are about publications, and have the post alone.
    kind = {_APPROVED: f"{_CHANGES}:", "post.updated": f"{EXPIRY}:"}.get(event.name, "")
    return [Notice(sorted(people), f"{kind}{event.post_id}", str(event.post_id))] if people else []


def _describe_carried_out(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    posts = _posts_of(rows)
    texts = {}
    for row in rows:
        post = posts.get(row.subjects[0])
        kind = row.group.partition(":")[0]
        if kind == _CHANGES:
            text = _("Changes to “%(title)s” were approved on schedule")
        elif kind == EXPIRY:
            text = _("“%(title)s” was unpublished on schedule")
        else:
            text = _("“%(title)s” was published on schedule")
        text %= {"title": title_of(post) if post else _("a deleted post")}
        texts[row.pk] = NotificationText(text, post_url("change", post) if post else "", "calendar")
    return texts


def _describe_failed_schedule(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    posts = _posts_of(rows)
    events = Event.objects.in_bulk([row.event_id for row in rows])
    texts = {}
    for row in rows:
        post, event = posts.get(row.subjects[0]), events.get(row.event_id)
        payload = event.payload if event else {}
        what = payload.get("what")
        if what == "changes":
            text = _("Changes to “%(title)s” could not go live on schedule")
            url = review_url(post, Layer.REVIEW) if post else ""
        else:
            text = (
                _("“%(title)s” could not be unpublished on schedule")
                if what == "expiry"
                else _("“%(title)s” could not be published on schedule")
            )
            url = post_url("change", post) if post else ""
        text %= {"title": title_of(post) if post else _("a deleted post")}
        texts[row.pk] = NotificationText(text, url, "warning", str(payload.get("reason") or ""))
    return texts


def _find_batch(event: Event) -> list[Notice]:
    id_ = str(event.payload["id"])
    people = list(
        DecisionBatch.objects.filter(pk=id_, by__isnull=False).values_list("by", flat=True)
    )
    return [Notice(people, id_, id_)] if people else []


def _describe_batch(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    return {
        row.pk: NotificationText(
            _("Your bulk review is finished"),
            reverse("admin:inbox-batch", args=[row.subjects[0]]),
            "check",
        )
        for row in rows
    }


def _posts_of(rows: Iterable[Notification]) -> dict[str, Post]:
    """Return the first post of each notification, unless it is in the trash. One query."""
    ids = {UUID(row.subjects[0]) for row in rows}
    found = with_proposed_titles(Post.objects.alive().filter(pk__in=ids))
    return {str(post.pk): post for post in found}


KINDS: Final = (
    NotificationKind(
        "review.waiting",
        gettext_lazy("Changes waiting in Review"),
        "posts.review.approve",
        tuple(_WAITING_IN),
        _find_waiting,
        _describe_waiting,
        can_be_mailed=True,
        category=Category.SUBMISSION,
    ),
    NotificationKind(
        "review.decided",
        gettext_lazy("Decisions on your changes"),
        "posts.view",
        (_APPROVED, *_REJECTED),
        _find_decided,
        _describe_decided,
        can_be_mailed=True,
        category=Category.DECIDED,
    ),
    NotificationKind(
        "post.published",
        gettext_lazy("Schedules that were carried out, of your posts and posts you discuss"),
        "posts.view",
        ("post.published", "post.updated", _APPROVED),
        _find_carried_out,
        _describe_carried_out,
        can_be_mailed=True,
        category=Category.DUE,
    ),
    NotificationKind(
        "post.schedule-failed",
        gettext_lazy("Schedules of your posts that failed"),
        "posts.view",
        (SCHEDULE_FAILED,),
        _find_failed,
        _describe_failed_schedule,
        can_be_mailed=True,
        category=Category.DUE,
    ),
    NotificationKind(
        "inbox.batch",
        gettext_lazy("Your bulk decisions that are done"),
        "posts.view",
        ("inbox.batch.ended",),
        _find_batch,
        _describe_batch,
        can_be_mailed=True,
        category=Category.DECIDED,
    ),
)
