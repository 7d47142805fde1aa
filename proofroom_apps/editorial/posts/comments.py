"""Comments on a post: a page of their own, and the same threads in a tab beside the form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from content.document.document import AGENT_FIELD_NAMES, FIELD_NAMES, PostDocument
from content.document.labels import label_of, module_names
from content.layers import Layers
from content.models import Post
from proofroom.accounts.models import User
from proofroom.accounts.queries import roles_with
from proofroom.accounts.roles import Role
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.agent_directory import agent_name
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.i18n.time_zones import to_local_input
from proofroom.core.validation.moments import parse_moment
from proofroom.definitions import modules, props_of
from proofroom_apps.comments.anchors import Anchor
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.comments.queries import found_passages, threads_of
from proofroom_apps.comments.services import (
    BODY_MAX,
    Passage,
    Written,
    change_comment,
    comment_on_post,
    delete_comment,
)
from proofroom_apps.editorial.posts.extensions import notes
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, read

PANEL: Final = "panel"
MAX_THREADS_SHOWN: Final = 100
_MAX_PEOPLE: Final = 200


@dataclass(frozen=True, slots=True)
class CommentView:
    """A comment or reply on the page."""

    comment: Comment
    author: str
    is_agent: bool
    may_delete: bool


@dataclass(frozen=True, slots=True)
class ThreadView:
    """A thread on the page. `quote` is empty without a passage."""

    first: CommentView
    replies: Sequence[CommentView]
    label: str
    quote: str
    is_removed: bool
    due: str
    is_overdue: bool

    @property
    def row(self) -> Comment:
        return self.first.comment


@require_http_methods(["GET", "HEAD", "POST"])
@service_errors_as_http
def comments(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the threads of a post; with `?part=panel`, for the tab of the editor. POST writes."""
    require(request, "comments.view")
    require(request, "posts.view")
    post, layers = read(request, post_id)
    is_panel = request.GET.get("part") == PANEL
    problem, warnings = "", list[str]()
    if request.method == "POST":
        try:
            warnings = _write(request, post)
        except RuleViolation as error:
            problem = error.message
        if not problem and not is_panel:
            for warning in warnings:
                messages.warning(request, warning)
            return HttpResponseRedirect(request.get_full_path())
    context = {
        **_threads(request, post, layers),
        "post": post,
        "problem": problem,
        "warnings": warnings,
        "typed": request.POST if problem else {},
        "url": post_url("comments", post),
        "is_panel": is_panel,
        "body_max": BODY_MAX,
        "notes": notes(request, post),
    }
    status = 422 if problem else 200
    if is_panel:
        return render(request, "admin/posts/comment_threads.html", context, status=status)
    return post_page(
        request,
        "admin/posts/comments.html",
        post,
        layers,
        context,
        title=_("Comments on %(title)s") % {"title": post.title},
        tab="comments",
        status=status,
    )


def _threads(request: HttpRequest, post: Post, layers: Layers) -> dict[str, object]:
    actor = actor_of(request)
    show = request.GET.get("show", "")
    show = show if show in ("resolved", "all") else "open"
    rows = threads_of(post, status="" if show == "all" else show)
    threads = list(rows[: MAX_THREADS_SHOWN + 1])
    document = layers.ai_review.document
    names = module_names(document, layers.live)
    passages = found_passages(post, threads[:MAX_THREADS_SHOWN])
    is_moderator = actor.can("posts.edit", post)
    labels = {"open": _("Open"), "resolved": _("Resolved"), "all": _("All")}
    choices = [(name, label, name == show) for name, label in labels.items()]
    may_write = may(request, "comments.write", post)
    # The review links to a comment on one of its changes.
    change = request.POST.get("change_path") or request.GET.get("change", "")
    changes = (*layers.review.changes.paths, *layers.ai_review.changes.paths)
    change = change if change in changes else ""
    return {
        "threads": [
            _view_thread(row, document, names, passages, actor, is_moderator)
            for row in threads[:MAX_THREADS_SHOWN]
        ],
        "has_more": len(threads) > MAX_THREADS_SHOWN,
        "show": show,
        "choices": choices,
        "may_write": may_write,
        "fields": list(_field_choices(document, names)) if may_write else [],
        "change": change,
        "change_label": label_of(change, document, names) if change else "",
        "people": _people() if may_write else [],
        "from_time": to_local_input(timezone.now()),
    }


def _view_thread(
    row: Comment,
    document: PostDocument,
    names: Mapping[str, str],
    passages: Mapping[UUID, Anchor | None],
    actor: Actor,
    is_moderator: bool,
) -> ThreadView:
    replies = list(row.replies.all())

    def view(comment: Comment, is_alone: bool) -> CommentView:
        author = comment.author.username if comment.author is not None else _("Former member")
        is_own = comment.author_id == actor.user.pk and is_alone
        return CommentView(
            comment,
            agent_name(comment.agent_id) if comment.agent_id else author,
            bool(comment.agent_id),
            actor.can("comments.write") and (is_moderator or is_own),
        )

    is_alone = all(reply.author_id == actor.user.pk for reply in replies)
    path = row.path or row.change_path
    found = passages.get(row.pk)
    is_open = row.status == CommentStatus.OPEN
    return ThreadView(
        first=view(row, is_alone),
        replies=[view(reply, True) for reply in replies],
        label=label_of(path, document, names) if path else "",
        quote=(found.quote if found is not None else row.quote) if row.quote else "",
        is_removed=bool(row.quote) and found is None,
        due=to_local_input(row.due_at) if row.due_at is not None else "",
        is_overdue=is_open and row.due_at is not None and row.due_at < timezone.now(),
    )


def _field_choices(
    document: PostDocument, names: Mapping[str, str]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the fields that a comment can be about: of the post, and of each module."""
    fields = [name for name in FIELD_NAMES if name in AGENT_FIELD_NAMES]
    fields += [name for name in document.fields if name not in FIELD_NAMES]
    paths = [f"post.{name}" for name in fields]
    yield _("Post"), [(path, label_of(path, document, names)) for path in paths]
    for module in document.modules:
        definition = modules.get(module.type)
        if definition is None:
            continue
        part = "props" if module.scope == "local" else "overrides"
        paths = [f"modules.{module.id}.{part}.{name}" for name in props_of(definition.Props)]
        yield (
            names.get(module.id, module.type),
            [(path, label_of(path, document, names).rpartition(" › ")[2]) for path in paths],
        )


def _people() -> list[str]:
    """Return the usernames that may be assigned, as far as it depends on their roles. One query."""
    found = User.objects.filter(is_active=True, role__in=roles_with("comments.view"))
    found = found.exclude(role=Role.AI_AGENT).order_by("username")
    return list(found.values_list("username", flat=True)[:_MAX_PEOPLE])


def _write(request: HttpRequest, post: Post) -> list[str]:
    """Do what the pressed button says. Return sentences about mentions that reached nobody."""
    actor, sent = actor_of(request), request.POST
    verb, _colon, id_ = sent.get("do", "").partition(":")
    body = sent.get("body", "")
    if verb == "add":
        quote = sent.get("quote", "").strip()
        written = comment_on_post(
            post_id=post.pk,
            body=body,
            path=sent.get("path", ""),
            change_path=sent.get("change_path", ""),
            passage=Passage(quote, sent.get("prefix", ""), sent.get("suffix", ""))
            if quote
            else None,
            assignee=sent.get("assignee", "") or None,
            due_at=_due_of(sent.get("due", "")),
            actor=actor,
        )
        return _sentences(written)
    # Ids of another post's comments are unknown here.
    if not post.comments.filter(pk=_uuid(id_)).exists():
        raise NotFound(_("Comment not found."))
    if verb == "reply":
        return _sentences(comment_on_post(post_id=post.pk, body=body, parent_id=id_, actor=actor))
    if verb == "edit":
        return _sentences(change_comment(comment_id=id_, body=body, actor=actor))
    if verb in ("resolve", "reopen"):
        status = CommentStatus.RESOLVED if verb == "resolve" else CommentStatus.OPEN
        change_comment(comment_id=id_, status=status.value, actor=actor)
    elif verb == "assign":
        change_comment(
            comment_id=id_,
            assignee=sent.get("assignee", "") or None,
            due_at=_due_of(sent.get("due", ""), post.comments.get(pk=id_)),
            actor=actor,
        )
    elif verb == "delete":
        delete_comment(comment_id=id_, actor=actor)
    else:
        raise invalid("do", _("Unknown action."))
    return []


def _due_of(text: str, comment: Comment | None = None) -> datetime | None:
    """Parse a time in the user's zone. A date that was not changed keeps its seconds, and may be over."""
    if not text:
        return None
    if (
        comment is not None
        and comment.due_at is not None
        and to_local_input(comment.due_at) == text
    ):
        return comment.due_at
    found = parse_moment(text, zone=timezone.get_current_timezone())
    if found is None:
        raise invalid("dueAt", _("Enter a date and time."))
    return found


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(_("Comment not found.")) from None


def _sentences(written: Written) -> list[str]:
    return [f"{warning.mention}: {warning.message}" for warning in written.warnings]
