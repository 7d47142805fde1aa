"""Like changes of several posts: a sample of them in full, the others as lines, and one decision on all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from content.admin.inbox.decided import read_marks, tell
from content.admin.inbox.lines import Line, Rights, lines_of
from content.admin.inbox.page import group_words, inbox_url
from content.admin.lookups import found as looked_up
from content.admin.pages import page
from content.layers import LayerView
from content.layers.state import open_layers_of_many
from content.models import Layer, Post, QueuedChange
from content.review.cards import Card, cards_of_layer
from content.review.references import Wanted, wanted_by
from content.services.inbox import MOST, Marked, Word, decide_queued
from content.waiting.queries import Alike, Asked, chosen, with_posts
from core.admin.rights import actor_of, answers_refusals, require
from core.errors import CmsError, Conflict

SAMPLE: Final = 3
_VERBS: Final[dict[str, Word]] = {"accept": "accept", "reject": "reject"}


@dataclass(frozen=True, slots=True)
class Sample:
    """A line with its change in full; no card where the change is gone meanwhile."""

    line: Line
    card: Card | None


@answers_refusals
def inbox_like(request: HttpRequest, like: str) -> HttpResponse:
    """GET shows the sample and the others, POST takes or drops those that are ticked, all in one word."""
    require(request, "posts.view")
    if request.method == "POST":
        return _decided(request, like)
    return _show(request, like)


def _show(request: HttpRequest, like: str, problem: str = "", status: int = 200) -> HttpResponse:
    rows = chosen(Asked(like=like))
    listed = list(with_posts(rows)[:MOST])
    if not listed:
        if request.method == "GET":
            raise Http404(_("Nothing of this kind waits."))
        return HttpResponseRedirect(inbox_url())
    lines = lines_of(request, listed)
    total = rows.count()
    layer = listed[0].layer
    first = lines[0]
    group = Alike(like, total, first.risk, listed[0], is_twin=listed[0].twin == like)
    rights = Rights.of(request)
    context: dict[str, Any] = {
        "samples": _samples(lines[:SAMPLE]),
        "others": lines[SAMPLE:],
        "count": len(lines),
        "other_count": len(lines[SAMPLE:]),
        "total": total,
        "layer": layer,
        "is_review": layer == Layer.REVIEW,
        "may_take": rights.take(layer),
        "may_reject": rights.reject,
        "words": group_words(group, first.run.agent if first.run else ""),
        "problem": problem,
        "note": request.POST.get("note", ""),
        "hides_ask": True,
    }
    title = _("Like changes, together")
    return page(request, "admin/inbox_like.html", context, title=title, status=status)


def _samples(lines: Sequence[Line]) -> list[Sample]:
    """Six queries at most, however long the sample is."""
    posts = {line.post.pk: line.post for line in lines}
    # Whole rows: those of the list have only what a line shows.
    layers = open_layers_of_many(list(Post.objects.filter(pk__in=posts)))
    views = {each.post.pk: each.view(Layer(lines[0].layer)) for each in layers}
    wanted = Wanted()
    for view in views.values():
        for document in (view.document, view.below):
            for kind, ids in wanted_by(view.changes, document).ids.items():
                wanted.ids[kind] |= ids
    references = looked_up(wanted)
    cards: dict[UUID, dict[str, Card]] = {
        pk: {card.path: card for group in cards_of_layer(view, references) for card in group.cards}
        for pk, view in ((pk, _only(view, lines)) for pk, view in views.items())
    }
    return [Sample(line, cards.get(line.post.pk, {}).get(line.row.path)) for line in lines]


def _only(view: LayerView, lines: Iterable[Line]) -> LayerView:
    """The layer with the changes of these lines alone: no other card is made."""
    paths = {line.row.path for line in lines}
    return replace(view, changes=view.changes.only(paths))


def _decided(request: HttpRequest, like: str) -> HttpResponse:
    word = _VERBS.get(request.POST.get("action", ""))
    if word is None:
        return _show(request, like, _("Press one of the buttons."), 422)
    marks = [Marked(mark.id, mark.seen, word) for mark in read_marks(request.POST)]
    try:
        _require_sample(like, marks)
        done = decide_queued(
            marks=marks, actor=actor_of(request), note=request.POST.get("note", "").strip()
        )
    except CmsError as error:
        if error.status in (403, 404):
            raise
        return _show(request, like, error.message, error.status)
    tell(request, done)
    return HttpResponseRedirect(inbox_url())


def _require_sample(like: str, marks: Sequence[Marked]) -> None:
    """What is ticked must be of this kind: the sample speaks for nothing else."""
    ids = {mark.id for mark in marks}
    known = set(chosen(Asked(like=like)).filter(pk__in=ids).values_list("pk", flat=True))
    present = set(QueuedChange.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if present - known:
        raise Conflict(
            _("Some of these changed and are not of this kind any more. Look again and decide."),
            code="stale_review",
        )
