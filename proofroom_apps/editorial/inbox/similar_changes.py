"""Similar changes of several posts, or all matches of a filter: a full sample, the others as lines, one decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.comparison.change_comparison import shared_props
from content.comparison.references import ReferenceIds, collect_references, load_titles
from content.inbox.decision_batches import MAX_BATCH_CHANGES
from content.inbox.decisions import MAX_DECISIONS, Marked, Word
from content.inbox.queries import QueueFilter, SimilarChanges, filter_queue, join_posts
from content.inbox.rows import stored_judgement
from content.models import Layer, Post, QueuedChange, Status
from content.presenters.cards import ChangeCard, cards_of_layer
from content.store.layer_state import open_layers_of_many
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError, Conflict
from proofroom_apps.editorial.inbox.decisions import (
    decide,
    pack_rows,
    read_marks,
    read_packed,
    require_opened,
)
from proofroom_apps.editorial.inbox.page import (
    filter_label,
    group_label,
    inbox_url,
    read_queue_filter,
)
from proofroom_apps.editorial.inbox.queue_rows import LAYERS, QueueRow, Rights, build_queue_rows
from proofroom_apps.editorial.posts.post_pages import page

SAMPLE_SIZE: Final = 3
_VERBS: Final[dict[str, Word]] = {"accept": "accept", "reject": "reject", "publish": "publish"}


@dataclass(frozen=True, slots=True)
class Sample:
    """A line with its full change. `card` is None if the change no longer exists."""

    line: QueueRow
    card: ChangeCard | None


@service_errors_as_http
def inbox_like(request: HttpRequest, like: str) -> HttpResponse:
    """GET shows the sample and the others, POST makes one decision on all ticked changes."""
    return _answer(request, QueueFilter(like=like))


@service_errors_as_http
def inbox_all(request: HttpRequest) -> HttpResponse:
    """The same page for all matches of the inbox's filters in one layer."""
    return _answer(request, replace(read_queue_filter(request.GET), like=""))


def _answer(request: HttpRequest, asked: QueueFilter) -> HttpResponse:
    require(request, "posts.view")
    if not (asked.like or asked.layer):
        return HttpResponseRedirect(inbox_url())
    if request.method != "POST":
        return _show(request, asked)
    word = _VERBS.get(request.POST.get("action", ""))
    if word is None:
        return _show(request, asked, _("Choose one of the actions."), 422)
    # Everything ticked can be rejected, but only safe changes can be accepted from a list.
    included = request.POST.copy()
    for name in [name for name in included if name.startswith("x.")]:
        if word != "reject":
            del included[name]
        else:
            included[name] = "reject"
    marks = [Marked(mark.id, mark.seen, word) for mark in read_marks(included)]
    unlisted = (
        read_packed(request.POST.get("rest", ""), word) if asked.like or word == "reject" else []
    )
    marks += unlisted
    try:
        seen = {(mark.id, mark.seen) for mark in marks}
        ids = {mark.id for mark in marks}
        # Without the age filter: a change may pass its limit while the user reads.
        kind = filter_queue(replace(asked, age=""), actor_of(request)).order_by()
        known = set(kind.filter(pk__in=ids).values_list("pk", "seen"))
        present = set(QueuedChange.objects.filter(pk__in=ids).values_list("pk", "seen"))
        # Marks of changes that are gone or differ from what was seen are left to the service.
        if (present - known) & seen:
            raise Conflict(
                _("Some of these changes no longer match. Check them again and decide."),
                code="stale_review",
            )
        # A line in a group of similar changes shows the whole change. Unlisted or cut changes were not read.
        require_opened(request, unlisted if asked.like else marks)
        return decide(request, marks, inbox_url())
    except CmsError as error:
        if error.status in (403, 404):
            raise
        return _show(request, asked, error.message, error.status)


def _show(
    request: HttpRequest, asked: QueueFilter, problem: str = "", status: int = 200
) -> HttpResponse:
    rows = filter_queue(asked, actor_of(request))
    listed = list(join_posts(rows)[:MAX_DECISIONS])
    if not listed:
        # After a POST, other users may have decided on all of them: lead back to the inbox.
        if request.method == "GET" and asked.like:
            raise Http404(_("No matching changes are waiting."))
        return HttpResponseRedirect(inbox_url())
    lines = build_queue_rows(request, listed)
    # Unsafe similar changes can only be decided if they are listed, since they must be read.
    has_rest = len(listed) == MAX_DECISIONS and not (asked.like and listed[0].weight > 1)
    # Changes that are not listed are sent by the form as ids only.
    rest = list(rows.values_list("pk", "seen")[MAX_DECISIONS:MAX_BATCH_CHANGES]) if has_rest else []
    layer = listed[0].layer
    rights = Rights.of(request)
    context: dict[str, Any] = {
        "layer": layer,
        "is_review": layer == Layer.REVIEW,
        "may_take": rights.take(layer),
        "may_reject": rights.reject,
        "may_publish": layer == Layer.AI_REVIEW and rights.publish,
        "samples": _samples(request, lines[:SAMPLE_SIZE]),
        "others": lines[SAMPLE_SIZE:],
        "count": len(lines),
        "included": sum(not line.must_be_opened for line in lines),
        "must_be_read": bool(asked.like) and any(line.must_be_opened for line in lines),
        "other_count": len(lines[SAMPLE_SIZE:]),
        "rest": pack_rows(rest),
        "rest_count": len(rest),
        "total": len(lines) + len(rest),
        "is_all_there_may_be": len(lines) + len(rest) == MAX_BATCH_CHANGES,
        "most": MAX_BATCH_CHANGES,
        "is_all": not asked.like,
        "words": _describe(asked, lines[0], len(lines) + len(rest)),
        "problem": problem,
        "note": request.POST.get("note", ""),
    }
    title = _("Similar changes") if asked.like else _("Review in bulk")
    return page(request, "admin/inbox_like.html", context, title=title, status=status)


def _describe(asked: QueueFilter, first: QueueRow, total: int) -> str:
    if asked.like:
        group = SimilarChanges(asked.like, total, first.risk, first.row)
        return group_label(group, first.who)
    names = {"count": total, "layer": LAYERS[asked.layer], "filters": filter_label(asked)}
    if not names["filters"]:
        text = ngettext(
            "%(count)d change in %(layer)s",
            "%(count)d changes in %(layer)s",
            total,
        )
        return text % names
    text = ngettext(
        "%(count)d change in %(layer)s: %(filters)s",
        "%(count)d changes in %(layer)s: %(filters)s",
        total,
    )
    return text % names


def _samples(request: HttpRequest, lines: Sequence[QueueRow]) -> list[Sample]:
    """Return the samples. At most six queries."""
    posts = {line.post.pk: line.post for line in lines}
    # Load whole posts: the rows of the list have only the columns of a line.
    layers = open_layers_of_many(list(Post.objects.filter(pk__in=posts)))
    views = {each.post.pk: each.view(Layer(lines[0].layer)) for each in layers}
    wanted = ReferenceIds()
    for view in views.values():
        for document in (view.document, view.below):
            for kind, ids in collect_references(view.changes, document).ids.items():
                wanted.ids[kind] |= ids
    shared = {
        id_: props
        for view in views.values()
        for id_, props in shared_props(view.changes, view.document, view.below).items()
    }
    references = replace(load_titles(wanted, actor_of(request)), shared=shared)
    cards: dict[tuple[UUID, str], ChangeCard] = {}
    paths = {line.row.path for line in lines}
    for pk, view in views.items():
        # Limit the layer to the sampled changes, so that no other cards are built.
        sampled = replace(view, changes=view.changes.only(paths))
        is_live = posts[pk].status == Status.PUBLISHED
        judgements = {
            line.row.path: stored_judgement(line.row) for line in lines if line.post.pk == pk
        }
        for group in cards_of_layer(sampled, references, judgements, is_live=is_live):
            cards |= {(pk, card.path): card for card in group.cards}
    return [Sample(line, cards.get((line.post.pk, line.row.path))) for line in lines]
