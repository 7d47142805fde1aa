"""Notifications about comments: mentions, assignments, and replies in one's own threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from media.models import Asset
from media.scopes import visible_assets
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.agent_directory import agent_name
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom_apps.comments.mentions import may_read
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.comments.queries import people_in_threads
from proofroom_apps.comments.services import OVERDUE_AFTER

_EVENTS: Final = ("comment.created", "comment.changed")
_RESOLVED: Final = "comment.resolved"


def _find_mentioned(event: Event) -> list[Notice]:
    people = _ids(event.payload.get("mentioned"), but=event.actor_id)
    return [_notice(event, people)] if people else []


def _find_assignee(event: Event) -> list[Notice]:
    people = _ids([event.payload.get("assigned")], but=event.actor_id)
    return [_notice(event, people)] if people else []


def _find_participants(event: Event) -> list[Notice]:
    """Return who wrote in the thread, has to answer it, or is mentioned there, but nobody whom the reply mentions."""
    threads = Comment.objects.filter(pk=str(event.payload["threadId"]))
    thread = threads.select_related("post", "asset").first()
    is_start = event.name == "comment.created" and event.payload["id"] == event.payload["threadId"]
    if thread is None or is_start:
        return []
    people = people_in_threads(threads)
    people -= {event.actor_id, *_ids(event.payload.get("mentioned"), but=None)}
    subject = thread.post or thread.asset
    found = list(User.objects.filter(pk__in=people, is_active=True).order_by("pk"))
    User.preload_roles(found)
    # Since then some may have lost the right to see the post or file.
    ids = [user.pk for user in found if subject is not None and may_read(user, subject)]
    return [_notice(event, ids)] if ids else []


def _ids(value: Json, *, but: int | None) -> list[int]:
    values = value if isinstance(value, list) else []
    return [id_ for id_ in values if isinstance(id_, int) and id_ != but]


def _notice(event: Event, people: Sequence[int]) -> Notice:
    return Notice(people, str(event.payload["threadId"]), str(event.payload["id"]))


def _find_visible(actor: Actor, rows: Sequence[Notification]) -> set[int]:
    """Return the ids of the rows whose comment the actor may see. At most two queries.

    Comments on posts are always in it: notifications about posts are checked by their events.
    """
    comments = _comments_of(rows)
    asked = {comment.asset_id for comment in comments.values() if comment.asset_id is not None}
    files: set[UUID] = set()
    if asked and actor.can("media.view"):
        assets = visible_assets(Asset.objects.filter(pk__in=asked), actor)
        files = set(assets.values_list("pk", flat=True))
    found = set()
    for row in rows:
        comment = comments.get(row.subjects[0])
        if comment is None or comment.asset_id is None or comment.asset_id in files:
            found.add(row.pk)
    return found


def _describe(rows: Sequence[Notification], kind: str) -> Mapping[int, NotificationText]:
    comments = _comments_of(rows)
    resolved = _resolved_by(rows) if kind == "reply" else {}
    texts = {}
    for row in rows:
        comment = comments.get(row.subjects[0])
        is_gone = comment is None or (
            comment.post is not None and comment.post.deleted_at is not None
        )
        if comment is None or is_gone:
            texts[row.pk] = NotificationText(_("A comment was deleted"), "", "comment")
            continue
        name = comment.author.username if comment.author is not None else ""
        if comment.agent_id:
            name = agent_name(comment.agent_id)
        sentence = {
            "mention": _("%(name)s mentioned you on “%(title)s”"),
            "assignment": _("A comment on “%(title)s” is assigned to you"),
            "due": _("A comment on “%(title)s” is due"),
            "reply": _("%(name)s replied on “%(title)s”"),
        }[kind]
        if kind == "due" and _is_overdue(comment):
            sentence = _("A comment on “%(title)s” is overdue")
        if row.event_id in resolved:
            sentence = _("%(name)s resolved a comment on “%(title)s”")
            name = resolved[row.event_id]
        title = comment.post.title if comment.post is not None else ""
        if comment.asset is not None:
            title = comment.asset.filename
        text = sentence % {"name": name or _("Former member"), "title": title}
        texts[row.pk] = NotificationText(text, comment_url(comment), "comment")
    return texts


def _is_overdue(comment: Comment) -> bool:
    is_open = comment.status == CommentStatus.OPEN
    return (
        is_open and comment.due_at is not None and comment.due_at <= timezone.now() - OVERDUE_AFTER
    )


def _resolved_by(rows: Sequence[Notification]) -> dict[int, str]:
    """Return who resolved a thread, by the event, of the rows whose last event is that. One query."""
    events = Event.objects.filter(pk__in=[row.event_id for row in rows], name=_RESOLVED)
    return dict(events.values_list("pk", "actor_name"))


def _comments_of(rows: Sequence[Notification]) -> dict[str, Comment]:
    """Return the latest comment of each notification by its id. One query."""
    ids = {row.subjects[0] for row in rows}
    found = Comment.objects.filter(pk__in=ids).select_related("author", "post", "asset")
    return {str(comment.pk): comment for comment in found}


def comment_url(comment: Comment) -> str:
    """Return the page where a comment is read."""
    if comment.post_id is not None:
        return reverse("admin:content_post_change", args=[comment.post_id]) + "#comments"
    return reverse("admin:file-comments", args=[comment.asset_id])


KINDS: Final = (
    NotificationKind(
        "comment.mention",
        gettext_lazy("Comments that mention you"),
        "comments.view",
        _EVENTS,
        _find_mentioned,
        lambda rows: _describe(rows, "mention"),
        can_be_mailed=True,
        category=Category.MENTION,
        find_visible=_find_visible,
    ),
    NotificationKind(
        "comment.assignment",
        gettext_lazy("Comments that are assigned to you"),
        "comments.view",
        _EVENTS,
        _find_assignee,
        lambda rows: _describe(rows, "assignment"),
        can_be_mailed=True,
        category=Category.ASSIGNMENT,
        find_visible=_find_visible,
    ),
    NotificationKind(
        "comment.due",
        gettext_lazy("Comments assigned to you that are due"),
        "comments.view",
        ("comment.due",),
        _find_assignee,
        lambda rows: _describe(rows, "due"),
        can_be_mailed=True,
        category=Category.DUE,
        find_visible=_find_visible,
    ),
    NotificationKind(
        "comment.reply",
        gettext_lazy("Replies in your threads, and threads that were resolved"),
        "comments.view",
        ("comment.created", _RESOLVED),
        _find_participants,
        lambda rows: _describe(rows, "reply"),
        can_be_mailed=True,
        find_visible=_find_visible,
    ),
)
