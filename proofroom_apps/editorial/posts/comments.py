"""Comments on a post or file: a page of their own, and for posts the same threads in a tab beside the form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_http_methods

from content.document.differences import base_path
from content.document.document import AGENT_FIELD_NAMES, FIELD_NAMES, PostDocument
from content.document.labels import label_of, module_names
from content.layers import Layers
from content.models import Post
from media.models import Asset
from proofroom.accounts.queries import active_people, roles_with
from proofroom.core.actor import Actor
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.agent_directory import agent_name
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.i18n.time_zones import to_local_input
from proofroom.core.json import JsonObject
from proofroom.core.validation.moments import parse_moment
from proofroom.definitions import modules, props_of
from proofroom_apps.comments.anchors import Anchor
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.comments.queries import (
    comment_not_found,
    found_passages,
    module_of,
    require_asset,
    threads_of,
)
from proofroom_apps.comments.services import (
    BODY_MAX,
    Passage,
    Written,
    change_comment,
    comment_on_asset,
    comment_on_post,
    delete_comment,
    reply_to_comment,
)
from proofroom_apps.editorial.posts.extensions import notes
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, read
from proofroom_apps.previews.models import PREVIEW_LAYERS

PANEL: Final = "panel"
MAX_THREADS_SHOWN: Final = 100
_MAX_PEOPLE: Final = 200
_TITLE_LENGTH: Final = 80
"""Characters of a comment in the tooltip of its mark."""


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

    @property
    def module_id(self) -> str:
        return module_of(self.row)


@require_http_methods(["GET", "HEAD", "POST"])
@service_errors_as_http
def comments(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the threads of a post; with `?part=panel`, for the tab of the editor. POST writes."""
    require(request, "comments.view")
    require(request, "posts.view")
    post, layers = read(request, post_id)
    is_panel = request.GET.get("part") == PANEL
    outcome = _Outcome()
    if request.method == "POST":
        outcome = _write(request, post)
        if not outcome.problem and not is_panel:
            return _redirect(request, outcome, post)
    layer = request.GET.get("preview", "")
    query = f"part={PANEL}&" if is_panel else ""
    if layer in dict(PREVIEW_LAYERS):
        # Sent from the preview, which shows the threads too.
        query = f"preview={layer}&"
    context = {**threads_context(request, post, layers, query=query), **outcome.context(request)}
    status = 422 if outcome.problem else 200
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


@require_http_methods(["GET", "HEAD", "POST"])
@service_errors_as_http
def file_comments(request: HttpRequest, asset_id: UUID) -> HttpResponse:
    """Show the threads of a media file. POST writes."""
    asset = require_asset(asset_id, actor_of(request))
    outcome = _Outcome()
    if request.method == "POST":
        outcome = _write(request, asset)
        if not outcome.problem:
            return _redirect(request, outcome)
    context = {
        **_threads(request, asset, show=request.GET.get("show", "")),
        **outcome.context(request),
        "url": request.path,
        "file_url": reverse("admin:media_asset_change", args=[asset.pk]),
    }
    page = form_page(
        request,
        "admin/media/comments.html",
        Asset,
        context,
        title=_("Comments on %(title)s") % {"title": asset.filename},
    )
    page.status_code = 422 if outcome.problem else 200
    return page


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of a write: why nothing was written, or warnings about mentions that reached nobody."""

    problem: str = ""
    warnings: Sequence[str] = ()

    def context(self, request: HttpRequest) -> dict[str, object]:
        return {
            "problem": self.problem,
            "warnings": self.warnings,
            "typed": request.POST if self.problem else {},
            "body_max": BODY_MAX,
        }


def _redirect(request: HttpRequest, outcome: _Outcome, post: Post | None = None) -> HttpResponse:
    for warning in outcome.warnings:
        messages.warning(request, warning)
    layer = request.GET.get("preview", "")
    if post is not None and layer in dict(PREVIEW_LAYERS):
        return HttpResponseRedirect(post_url("preview", post, f"?layer={layer}#comments"))
    return HttpResponseRedirect(request.get_full_path())


def threads_context(
    request: HttpRequest, post: Post, layers: Layers, *, query: str = "", show: str | None = None
) -> dict[str, object]:
    """Return what `admin/posts/comment_threads.html` reads. `query`: the beginning of its addresses' query."""
    return {
        **_threads(
            request, post, layers, show=request.GET.get("show", "") if show is None else show
        ),
        **_Outcome().context(request),
        "post": post,
        "url": post_url("comments", post),
        "query": query,
        "notes": notes(request, post),
    }


def _threads(
    request: HttpRequest, subject: Post | Asset, layers: Layers | None = None, *, show: str
) -> dict[str, object]:
    """Return the threads, and the choices of the form. `layers`: those of a post."""
    actor = actor_of(request)
    show = show if show in ("resolved", "all") else "open"
    found = threads_of(subject, status="" if show == "all" else show)
    rows = list(found[: MAX_THREADS_SHOWN + 1])
    shown = rows[:MAX_THREADS_SHOWN]
    labels = {"open": pgettext("state", "Open"), "resolved": _("Resolved"), "all": _("All")}
    may_write = actor.can("comments.write", subject)
    context: dict[str, object] = {
        "has_more": len(rows) > MAX_THREADS_SHOWN,
        "show": show,
        "choices": [(name, label, name == show) for name, label in labels.items()],
        "may_write": may_write,
        "people": assignable_people() if may_write else [],
        "mentions_url": f"/api/{'media' if layers is None else 'posts'}/{subject.pk}/mentions",
        "from_time": to_local_input(timezone.now()),
    }
    if layers is None:
        is_moderator = actor.can("media.edit")
        return {**context, "threads": [_view_thread(row, actor, is_moderator) for row in shown]}
    document = layers.ai_review.document
    names = module_names(document, layers.live)
    # The marks beside the form are those of open threads, whichever are listed.
    unlisted = threads_of(subject, status="open")[:MAX_THREADS_SHOWN] if show == "resolved" else []
    open_threads = [row for row in (*shown, *unlisted) if row.status == CommentStatus.OPEN]
    passages = found_passages(layers.post, {row.pk: row for row in (*shown, *unlisted)}.values())
    is_moderator = actor.can("posts.edit", subject)
    # The review links to a comment on one of its changes.
    change = request.POST.get("change_path") or request.GET.get("change", "")
    changes = (*layers.review.changes.paths, *layers.ai_review.changes.paths)
    change = change if change in changes else ""

    def label(path: str) -> str:
        return label_of(path, document, names) if path else ""

    return {
        **context,
        "threads": [
            _view_thread(
                row, actor, is_moderator, label(row.path or row.change_path), passages.get(row.pk)
            )
            for row in shown
        ],
        "marks": json.dumps([_mark_of(row, passages.get(row.pk)) for row in open_threads]),
        "fields": list(_field_choices(document, names)) if may_write else [],
        "change": change,
        "change_label": label(change),
    }


def _view_thread(
    row: Comment, actor: Actor, is_moderator: bool, label: str = "", passage: Anchor | None = None
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
    is_open = row.status == CommentStatus.OPEN
    return ThreadView(
        first=view(row, is_alone),
        replies=[view(reply, True) for reply in replies],
        label=label,
        quote=passage.quote if passage is not None else row.quote,
        is_removed=bool(row.quote) and passage is None,
        due=to_local_input(row.due_at) if row.due_at is not None else "",
        is_overdue=is_open and row.due_at is not None and row.due_at < timezone.now(),
    )


def _mark_of(row: Comment, passage: Anchor | None) -> JsonObject:
    """Return what the editor needs to mark the place of a thread. `quote` is empty without a passage."""
    found = passage or Anchor("")
    return {
        "id": str(row.pk),
        "path": base_path(row.path or row.change_path),
        "title": Truncator(row.body).chars(_TITLE_LENGTH),
        "quote": found.quote,
        "prefix": found.prefix,
        "suffix": found.suffix,
    }


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


def assignable_people() -> list[str]:
    """Return the usernames that may be assigned, as far as it depends on their roles. One query."""
    found = active_people().filter(role__in=roles_with("comments.view")).order_by("username")
    return list(found.values_list("username", flat=True)[:_MAX_PEOPLE])


def _write(request: HttpRequest, subject: Post | Asset) -> _Outcome:
    """Do what the pressed button says."""
    try:
        written = _act(request, subject)
    except RuleViolation as error:
        if error.code == "passage_not_found":
            # In the editor the words are usually there, but were typed after the last save.
            return _Outcome(
                problem=_("The selected words are not in the saved text. Save first, then comment.")
            )
        return _Outcome(problem=error.message)
    warnings = written.warnings if written is not None else ()
    return _Outcome(warnings=[f"{one.mention}: {one.message}" for one in warnings])


def _act(request: HttpRequest, subject: Post | Asset) -> Written | None:
    actor, sent = actor_of(request), request.POST
    verb, _colon, id_ = sent.get("do", "").partition(":")
    body = sent.get("body", "")
    assignee = sent.get("assignee", "") or None
    if verb == "add":
        quote = sent.get("quote", "").strip()
        due_at = _due_of(sent.get("due", ""))
        if isinstance(subject, Asset):
            return comment_on_asset(
                asset_id=subject.pk, body=body, assignee=assignee, due_at=due_at, actor=actor
            )
        return comment_on_post(
            post_id=subject.pk,
            body=body,
            path=sent.get("path", ""),
            change_path=sent.get("change_path", ""),
            passage=_passage_of(sent, quote) if quote else None,
            assignee=assignee,
            due_at=due_at,
            actor=actor,
        )
    # Ids of other comments are unknown here.
    comment = find_by_id(subject.comments, id_)
    if comment is None:
        raise comment_not_found()
    if verb == "reply":
        return reply_to_comment(comment_id=comment.pk, body=body, actor=actor)
    if verb == "delete":
        delete_comment(comment_id=comment.pk, actor=actor)
        return None
    if verb in ("resolve", "reopen"):
        status = CommentStatus.RESOLVED if verb == "resolve" else CommentStatus.OPEN
        return change_comment(comment_id=comment.pk, status=status.value, actor=actor)
    if verb != "assign":
        raise invalid("do", _("Unknown action."))
    due_at = _due_of(sent.get("due", ""), comment)
    return change_comment(comment_id=comment.pk, assignee=assignee, due_at=due_at, actor=actor)


def _passage_of(sent: QueryDict, quote: str) -> Passage:
    return Passage(quote, sent.get("prefix", "").strip(), sent.get("suffix", "").strip())


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
