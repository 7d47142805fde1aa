"""The page *Comments*: the comments on all posts and files, and the notes on pages, in one list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import CharField, Q, QuerySet, Value
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_safe

from content.store.scopes import filter_by_visible_post
from media.models import Asset
from media.scopes import visible_assets
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.agent_directory import agent_name
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.editorial.posts.post_pages import post_url
from proofroom_apps.feedback.models import Feedback, FeedbackStatus

PAGE_SIZE: Final = 50
_STATES: Final = {
    "open": pgettext_lazy("state", "Open"),
    "resolved": gettext_lazy("Resolved"),
    "all": gettext_lazy("All"),
}
_KINDS: Final = {
    "all": gettext_lazy("Comments and notes"),
    "mine": gettext_lazy("Assigned to me"),
    "notes": gettext_lazy("Notes on pages"),
}
_COMMENT: Final = "comment"
_NOTE: Final = "note"
_Place = tuple[datetime, UUID, str]
"""Time, id and kind of a row."""


@dataclass(frozen=True, slots=True)
class CommentRow:
    """A thread or a note in the list. `category`: that of a note."""

    text: str
    quote: str
    author: str
    is_agent: bool
    title: str
    url: str
    is_resolved: bool
    at: datetime
    category: str = ""
    replies: int = 0
    assignee: str = ""
    due_at: datetime | None = None
    is_overdue: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A link that narrows the list."""

    label: str
    url: str
    is_current: bool
    count: None = None


@require_safe
def comment_list(request: HttpRequest) -> HttpResponse:
    """List the threads and notes that the user may see, newest first. Six queries at most."""
    sees_comments, sees_notes = may(request, "comments.view"), may(request, "feedback.view")
    if not (sees_comments or sees_notes):
        raise PermissionDenied
    state, kind = request.GET.get("show", ""), request.GET.get("kind", "")
    state = state if state in _STATES else "open"
    kind = kind if kind in _KINDS else "all"
    actor = actor_of(request)
    threads = (
        visible_threads(actor) if sees_comments and kind != "notes" else Comment.objects.none()
    )
    notes = visible_notes(actor) if sees_notes and kind != "mine" else Feedback.objects.none()
    if kind == "mine":
        threads = threads.filter(assignee=actor.user.pk)
    if state != "all":
        is_open = state == "open"
        threads = threads.filter(status=CommentStatus.OPEN if is_open else CommentStatus.RESOLVED)
        notes = notes.filter(status=FeedbackStatus.PENDING if is_open else FeedbackStatus.RESOLVED)
    found = Paginator(_in_order(threads, notes), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        **admin.site.each_context(request),
        "title": _("Comments"),
        "found": found,
        "rows": _rows(list(found)),
        "states": _choices(_STATES, "show", state, kind=kind),
        "kinds": _choices(_KINDS, "kind", kind, show=state),
        "kind": kind,
        "notes_url": reverse("admin:proofroom_feedback_feedback_changelist") if sees_notes else "",
    }
    return TemplateResponse(request, "admin/feedback/comments.html", context)


def visible_threads(actor: Actor) -> QuerySet[Comment]:
    """Return the threads about posts and files that the actor may see."""
    threads = Comment.objects.filter(parent=None)
    seen = Q(pk__in=[])
    if actor.can("posts.view"):
        about_posts = threads.filter(post__deleted_at__isnull=True, post__isnull=False)
        seen |= Q(pk__in=filter_by_visible_post(about_posts, actor).values("pk"))
    if actor.can("media.view"):
        seen |= Q(asset__in=visible_assets(Asset.objects.all(), actor).values("pk"))
    return threads.filter(seen)


def visible_notes(actor: Actor) -> QuerySet[Feedback]:
    """Return the notes on pages of posts that the actor may see."""
    return filter_by_visible_post(Feedback.objects.filter(post__deleted_at__isnull=True), actor)


def _in_order(threads: QuerySet[Comment], notes: QuerySet[Feedback]) -> QuerySet[Comment, _Place]:
    """Return time, id and kind of both, newest first."""
    kind_of_thread, kind_of_note = (
        Value(kind, output_field=CharField()) for kind in (_COMMENT, _NOTE)
    )
    of_threads = threads.values_list("created_at", "pk", kind_of_thread)
    of_notes = notes.values_list("created_at", "pk", kind_of_note)
    both: QuerySet[Comment, _Place] = of_threads.union(of_notes, all=True)
    return both.order_by("-created_at", "-pk")


def _rows(page: Sequence[_Place]) -> list[CommentRow]:
    """Return the rows of a page. Three queries."""
    ids = {kind: [id_ for _at, id_, of in page if of == kind] for kind in (_COMMENT, _NOTE)}
    replies = Comment.objects.filter(parent__in=ids[_COMMENT]).values_list("parent", flat=True)
    counts = Counter(replies)
    threads = Comment.objects.filter(pk__in=ids[_COMMENT])
    threads = threads.select_related("post", "asset", "author", "assignee")
    notes = Feedback.objects.filter(pk__in=ids[_NOTE]).select_related("post", "author")
    rows = {
        **{one.pk: _row_of_thread(one, counts[one.pk]) for one in threads},
        **{one.pk: _row_of_note(one) for one in notes},
    }
    return [rows[id_] for _at, id_, _kind in page if id_ in rows]


def _name_of(user: User | None) -> str:
    return user.username if user is not None else _("Former member")


def _row_of_thread(thread: Comment, replies: int) -> CommentRow:
    is_open = thread.status == CommentStatus.OPEN
    title, url = "", ""
    if thread.post is not None:
        title, url = thread.post.title, post_url("comments", thread.post)
    elif thread.asset is not None:
        title, url = thread.asset.filename, reverse("admin:file-comments", args=[thread.asset.pk])
    return CommentRow(
        text=thread.body,
        quote=thread.quote,
        author=agent_name(thread.agent_id) if thread.agent_id else _name_of(thread.author),
        is_agent=bool(thread.agent_id),
        title=title,
        url=f"{url}{'' if is_open else '?show=resolved'}#comment-{thread.pk}",
        is_resolved=not is_open,
        at=thread.created_at,
        replies=replies,
        assignee=thread.assignee.username if thread.assignee is not None else "",
        due_at=thread.due_at,
        is_overdue=is_open and thread.due_at is not None and thread.due_at < timezone.now(),
    )


def _row_of_note(note: Feedback) -> CommentRow:
    return CommentRow(
        text=note.content,
        quote="",
        author=_name_of(note.author),
        is_agent=False,
        title=note.post.title,
        url=reverse("admin:proofroom_feedback_feedback_change", args=[note.pk]),
        is_resolved=note.status == FeedbackStatus.RESOLVED,
        at=note.created_at,
        category=note.get_category_display(),
    )


def _choices(labels: Mapping[str, object], name: str, current: str, **other: str) -> list[Choice]:
    return [
        Choice(str(label), f"?{urlencode({name: value, **other})}", value == current)
        for value, label in labels.items()
    ]
