"""Revisions of a post: listed, compared, restored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.comparison.references import references_of
from content.document.changes import diff
from content.document.document import PostDocument
from content.document.labels import label_of, module_names
from content.layers import revert_to_revision
from content.models import Post, Revision, Status
from content.presenters.cards import CardGroup, cards_between
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.content_scope import Scoped
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import CmsError
from proofroom.core.models import Event
from proofroom_apps.editorial.posts.advice import describe_advice
from proofroom_apps.editorial.posts.extensions import history_links
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, read, split_switch
from proofroom_apps.editorial.posts.rejections import rejections_of
from proofroom_apps.editorial.posts.undo import offer_undo_revert
from proofroom_apps.reviewers.advice import advice_history

_PAGE_SIZE = 50
_LATEST: Final = 10
"""Number of revisions shown in the editor."""
_MAX_CHOICES = 200
_LABELS_SHOWN: Final = 3
_REASONS: Final[Mapping[str, Promise]] = {
    "before": gettext_lazy("First saved state"),
    "created": gettext_lazy("Created"),
    "imported": gettext_lazy("Imported"),
    "edited": gettext_lazy("Edited"),
    "approved": gettext_lazy("Approved"),
    "reverted": gettext_lazy("Restored"),
    "promoted": gettext_lazy("Variation promoted"),
    "find-replace": gettext_lazy("Find and replace"),
    "find-replace undone": gettext_lazy("Find and replace undone"),
}


_STATUSES_READ: Final = 500
"""Number of latest status changes that are read."""
_MOVES: Final[Mapping[str, Promise]] = {
    "post.published": gettext_lazy("Published"),
    "post.schedule-failed": gettext_lazy("Schedule failed"),
    "post.deleted": gettext_lazy("Moved to trash"),
    "post.restored": gettext_lazy("Restored from trash"),
}
"""Labels of events of the post as a whole, by event name."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A revision with its cause, author and changes in words, or a status change without a revision.

    `earlier` is the previous version for the comparison; None if the content is equal. `is_current`: it equals the
    post's present content.
    """

    at: datetime
    reason: str
    who: str
    revision: Revision | None = None
    changes: str = ""
    earlier: UUID | None = None
    is_current: bool = False


@service_errors_as_http
def revisions(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """List the revisions, newest first, with two to compare; `?part=latest` returns the first ones for the editor."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    # The list needs only the changed paths, not the whole documents.
    rows = post.revisions.defer("document").order_by("-version")
    if request.GET.get("part") == "latest":
        latest = _describe(post, list(rows[:_LATEST]), rows, layers.live)
        return render(request, "admin/posts/history.html", {"post": post, "lines": latest})
    found = Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page"))
    shown = list(found)
    later = None
    if found.number > 1 and shown:
        later = rows.filter(version__gt=shown[0].version).order_by("version").first()
    lines = _describe(post, shown, rows, layers.live, later)
    context = {
        "revisions": found,
        "lines": lines,
        # Compare the two latest by default.
        "chosen": [line.revision.pk for line in lines if line.revision is not None][:2],
        "rejections": rejections_of(post, layers) if found.number == 1 else [],
        "may_restore": may(request, "posts.revisions.manage", post),
        "links": history_links(request, post),
    }
    return post_page(
        request,
        "admin/posts/revisions.html",
        post,
        layers,
        context,
        title=_("Revisions: %(title)s") % {"title": post.title},
        tab="revisions",
    )


def _describe(
    post: Post,
    found: Sequence[Revision],
    rows: QuerySet[Revision],
    live: PostDocument,
    later: Revision | None = None,
) -> list[HistoryLine]:
    """Return the revisions in words, with status changes between them. Two queries.

    `later` is the next newer revision, if they are not the latest.
    """
    if not found:
        return sorted(
            [*_status_lines(post), *_advice_lines(post)], key=lambda line: line.at, reverse=True
        )
    names = module_names(live)
    before_last = rows.filter(version__lt=found[-1].version).first()
    # The state saved before a change is shown on the page of the change that led to it.
    oldest, newest = found[-1], later
    if before_last is not None and oldest.reason == "before":
        oldest = before_last
    if newest is not None and newest.reason == "before":
        newest = found[0]
    moves = [
        line
        for line in _status_lines(post)
        if (before_last is None or line.at >= oldest.created_at)
        and (newest is None or line.at < newest.created_at)
    ]
    advice = [
        line
        for line in _advice_lines(post)
        if (before_last is None or line.at >= oldest.created_at)
        and (newest is None or line.at < newest.created_at)
    ]
    lines = []
    for row, earlier in zip(found, [*found[1:], before_last], strict=True):
        reason = str(_REASONS.get(row.reason, row.reason))
        who, to_compare = row.by_name or _("Site (automatic)"), earlier.pk if earlier else None
        if row.reason == "before" and earlier:
            # Such a state is saved if its version had no revision, as after a change of status or date only.
            if any(earlier.created_at <= move.at <= row.created_at for move in moves):
                continue
            reason, who, to_compare = _("Status or schedule changed, same content"), "", None
        lines.append(
            HistoryLine(
                at=row.created_at,
                reason=reason,
                who=who,
                revision=row,
                changes=_changes_in_words(row, live, names),
                earlier=to_compare,
                # Only the newest revision has the present content.
                is_current=later is None and row is found[0],
            )
        )
    return sorted([*moves, *advice, *lines], key=lambda line: line.at, reverse=True)


def _status_lines(post: Post) -> list[HistoryLine]:
    """Return the lines for publishing, unpublishing, archiving, deleting and restoring, newest first."""
    events = Event.objects.filter(
        # An update without changed paths is a change of the status or the schedule.
        Q(name__in=_MOVES) | Q(name="post.updated", payload__changedPaths=[]),
        post_id=post.pk,
    )
    rows = events.order_by("-pk").values_list("name", "payload", "actor_name", "created_at")
    lines, status = [], ""
    # Oldest first, since each line depends on the status before it.
    for name, payload, who, at in reversed(rows[:_STATUSES_READ]):
        before, status = status, payload.get("status", "")
        if name in _MOVES:
            reason = str(_MOVES[name])
        elif status == before:
            continue
        elif status == Status.ARCHIVED:
            reason = _("Archived")
        elif status == Status.DRAFT:
            was_archived = before == Status.ARCHIVED
            reason = _("Restored as draft") if was_archived else _("Unpublished")
        else:
            continue
        lines.append(HistoryLine(at=at, reason=reason, who=who or _("Site (automatic)")))
    lines.reverse()
    return lines


def _advice_lines(post: Post) -> list[HistoryLine]:
    """Return the lines for what reviewers without an account said. One query."""
    return [
        HistoryLine(
            at=given.at,
            reason=_("Advice of a reviewer: %(advice)s")
            % {"advice": describe_advice(given.yes, given.no, given.comments)},
            who=given.name,
        )
        for given in advice_history(post)
    ]


def _changes_in_words(revision: Revision, document: PostDocument, names: Mapping[str, str]) -> str:
    """Return the labels of the changed paths, with the live post's names for modules."""
    labels = list(dict.fromkeys(label_of(path, document, names) for path in revision.changed_paths))
    shown, more = labels[:_LABELS_SHOWN], len(labels) - _LABELS_SHOWN
    if more > 0:
        shown.append(_("%(n)d more") % {"n": more})
    return ", ".join(shown)


@service_errors_as_http
def compare(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the differences from one revision (`?from=`) to another (`&to=`)."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    one = find_revision(post, request.GET.get("from", ""))
    other = find_revision(post, request.GET.get("to", ""))
    if one.version > other.version:
        one, other = other, one
    groups = compare_documents(
        PostDocument.from_json(one.document),
        PostDocument.from_json(other.document),
        actor_of(request),
    )
    # Choices for the comparison: the latest revisions and the chosen ones.
    offered = list(post.revisions.defer("document").order_by("-version")[:_MAX_CHOICES])
    known = {revision.pk for revision in offered}
    offered += [revision for revision in (other, one) if revision.pk not in known]
    context = {
        "one": one,
        "other": other,
        "groups": groups,
        "choices": offered,
        **split_switch(request, {"from": str(one.pk), "to": str(other.pk)}),
    }
    return post_page(
        request,
        "admin/posts/compare.html",
        post,
        layers,
        context,
        title=_("Version %(version)s compared with %(version_2)s: %(title)s")
        % {"version": one.version, "version_2": other.version, "title": post.title},
        tab="revisions",
    )


@service_errors_as_http
def restore(request: HttpRequest, post_id: UUID, revision_id: UUID) -> HttpResponse:
    """GET shows the changes of a restore, POST restores."""
    require(request, "posts.revisions.manage")
    post, layers = read(request, post_id)
    revision = find_revision(post, str(revision_id))
    if request.method == "POST":
        note = f"version {revision.version}"  # stored, so not translated
        try:
            now = revert_to_revision(
                post_id=post.pk, revision_id=revision.pk, actor=actor_of(request), note=note
            )
        except CmsError as error:
            if error.status in (403, 404):
                raise
            messages.error(request, error.message)
            return HttpResponseRedirect(request.path)
        text = _("Version %(version)s was restored.") % {"version": revision.version}
        # The version before the restore, if it changed anything.
        before = post.revisions.filter(version=post.version).exclude(version=now.version).first()
        undo = offer_undo_revert(request, now, before) if before is not None else ""
        messages.success(request, format_html("{} {}", text, undo))
        return HttpResponseRedirect(post_url("change", post))
    context = {
        "revision": revision,
        "groups": compare_documents(
            layers.live, PostDocument.from_json(revision.document), actor_of(request)
        ),
        "back": post_url("revisions", post),
        **split_switch(request, {}),
    }
    return post_page(
        request,
        "admin/posts/restore.html",
        post,
        layers,
        context,
        title=_("Restore version %(version)s: %(title)s")
        % {"version": revision.version, "title": post.title},
        tab="revisions",
    )


def compare_documents(before: PostDocument, after: PostDocument, who: Scoped) -> list[CardGroup]:
    """Return the differences between two documents as cards."""
    changes = diff(before, after)
    return cards_between(before, after, changes, references_of(changes, before, after, who=who))


def find_revision(post: Post, revision_id: str) -> Revision:
    """Return a revision of this post. Raises `Http404`."""
    found = find_by_id(post.revisions, revision_id)
    if found is None:
        raise Http404(_("Revision not found."))
    return found
