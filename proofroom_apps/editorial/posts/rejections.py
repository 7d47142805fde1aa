"""Rejections by reviewers, read from the events.

They are shown beside a new proposal for the same place, and on the page that restores rejected changes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.comparison.references import references_of
from content.document.changes import apply
from content.document.labels import label_of, module_names
from content.inbox.rejections import (
    changes_of,
    filter_restorable,
    find_rejections,
    is_unchanged_since_rejection,
    undo_rejections,
)
from content.layers import Layers, LayerView
from content.layers.rejected_changes import (
    EarlierRejection,
    rejections_before,
    rejections_before_queued,
)
from content.models import Layer, Post, QueuedChange, RejectedChange
from content.presenters.cards import cards_between
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import CmsError
from proofroom.core.models import Event
from proofroom_apps.editorial.posts.post_pages import (
    MAX_REJECTIONS,
    layer_label,
    post_page,
    post_url,
    read,
    rejection_url,
    review_url,
)

_NAMES: Final = {f"post.{layer.value}.reject": layer for layer in Layer}
_MAX_EVENTS: Final = 100
_NEWEST_SHOWN: Final = 3
_MAX_NOTE_LENGTH: Final = 80


@dataclass(frozen=True, slots=True)
class DroppedChange:
    """One rejected change. `back_by` is the user who restored it."""

    label: str
    back_by: str = ""


@dataclass(frozen=True, slots=True)
class RejectionRow:
    """Changes that a user rejected. `runs` are the runs that had proposed some of them.

    `url` is the page that restores them, empty if none of them is still stored.
    """

    layer: str
    by: str
    at: datetime
    changes: tuple[DroppedChange, ...]
    note: str
    runs: tuple[str, ...]
    url: str

    @property
    def back_by(self) -> str:
        """Name of the user who restored all of it; empty if a part is not restored, or several users did it."""
        names = {change.back_by for change in self.changes}
        return names.pop() if len(names) == 1 else ""


def rejections_of(post: Post, layers: Layers) -> list[RejectionRow]:
    """Return the latest rejections of a post, newest first. Two queries."""
    events = Event.objects.filter(post_id=post.pk, name__in=_NAMES).select_related("actor")
    found = [(event, _strings(event, "paths")) for event in events.order_by("-id")[:_MAX_EVENTS]]
    return _read_rejections(post, layers, found)


def rejections_of_run(
    post: Post, layers: Layers, run_id: str, staged: Sequence[str], since: datetime
) -> list[RejectionRow]:
    """Return the rejections of a run's staged changes, newest first. Two queries."""
    events = Event.objects.filter(post_id=post.pk, name__in=_NAMES, created_at__gte=since)
    found: list[tuple[Event, list[str]]] = []
    for event in events.select_related("actor").order_by("-id")[:_MAX_EVENTS]:
        # Filter in Python: there is no lookup for lists in JSON that both databases support.
        paths = [path for path in _strings(event, "paths") if path in staged]
        if paths and run_id in _strings(event, "runs"):
            found.append((event, paths))
    return _read_rejections(post, layers, found)


def _read_rejections(
    post: Post, layers: Layers, found: Sequence[tuple[Event, Sequence[str]]]
) -> list[RejectionRow]:
    if not found:
        return []
    rows: dict[int, dict[str, RejectedChange]] = defaultdict(dict)
    ids = [event.pk for event, _paths in found]
    kept = RejectedChange.objects.filter(post=post, rejection__in=ids)
    # Proposals can be large, and here it only matters whether they are still stored.
    for row in kept.defer("proposal").annotate(is_there=Q(proposal__isnull=False)):
        rows[row.rejection][row.path] = row
    document = layers.ai_review.document
    names = module_names(document, layers.review.document, layers.live)
    rejections = []
    for event, paths in found:
        dropped = rows[event.pk]
        is_kept = any(getattr(row, "is_there", False) for row in dropped.values())
        changes = (
            DroppedChange(
                label_of(path, document, names),
                dropped[path].taken_back_by if path in dropped else "",
            )
            for path in paths
        )
        rejections.append(
            RejectionRow(
                layer=layer_label(_NAMES[event.name]),
                by=event.actor.username if event.actor else _("a deleted account"),
                at=event.created_at,
                changes=tuple(changes),
                note=str(event.payload.get("note") or ""),
                runs=tuple(_strings(event, "runs")),
                url=rejection_url(post, [event.pk]) if is_kept else "",
            )
        )
    return rejections


def _strings(event: Event, key: str) -> list[str]:
    value = event.payload.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class EarlierRejectionNotes:
    """The earlier rejections of a card, newest first; older ones are folded."""

    newest: Sequence[EarlierRejection]
    older: Sequence[EarlierRejection]

    @property
    def has_same(self) -> bool:
        """True if the same text was rejected before."""
        return any(one.is_same for one in (*self.newest, *self.older))


def load_earlier_rejections(post: Post, view: LayerView) -> dict[str, EarlierRejectionNotes]:
    """Return the notes for the cards of a layer, by path. One query."""
    return {
        path: EarlierRejectionNotes(ones[:_NEWEST_SHOWN], ones[_NEWEST_SHOWN:])
        for path, ones in rejections_before(post, view.changes).items()
    }


def rejection_reasons(rows: Iterable[QueuedChange]) -> Mapping[int, list[str]]:
    """Return texts about earlier rejections for the rows of the inbox, by row id. One query."""
    reasons = {}
    for pk, ones in rejections_before_queued(rows).items():
        latest = next((one.note for one in ones if one.note), "")
        note = " ".join(Truncator(latest).chars(_MAX_NOTE_LENGTH).split())
        reasons[pk] = [
            _("rejected before: “%(note)s”") % {"note": note} if note else _("rejected before")
        ]
        if any(one.is_same for one in ones):
            reasons[pk].append(_("the same text was rejected"))
    return reasons


# At most 18 digits, which always fit the 64-bit id.
_ID: Final = "[1-9][0-9]{0,17}"
_IDS: Final = re.compile(f"{_ID}(?:,{_ID}){{0,{MAX_REJECTIONS - 1}}}")


@service_errors_as_http
def rejection(request: HttpRequest, post_id: UUID, rejections: str) -> HttpResponse:
    """GET shows the rejected changes, POST restores the ticked ones, or all."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    if not _IDS.fullmatch(rejections):
        raise Http404(_("Rejection not found."))
    ids = [int(id_) for id_ in rejections.split(",")]
    if request.method == "POST":
        return _take_back(request, post, ids)
    rows = find_rejections(post, ids)
    view = layers.view(Layer(rows[0].layer))
    # Author, time and reason of these rejections only.
    of = {row.rejection for row in rows}
    # Restorable changes are cards; the others are listed with the reason.
    kept = filter_restorable(rows)
    free = [one for one in kept if is_unchanged_since_rejection(one, view)]
    paths = {one.row.path for one in free}
    changes = changes_of(free, view)
    after = apply(view.document, changes)
    references = references_of(changes, view.document, after, who=actor_of(request))
    names = module_names(view.document, after, layers.review.document, layers.live)

    def label(row: RejectedChange) -> str:
        return label_of(row.path, after, names)

    context = {
        "groups": cards_between(view.document, after, changes, references),
        "newer": [label(one.row) for one in kept if one.row.path not in paths],
        "large": [label(row) for row in rows if not row.is_kept and row.taken_back_at is None],
        "taken": [(label(row), row.taken_back_by) for row in rows if row.taken_back_at],
        "events": Event.objects.filter(pk__in=of).select_related("actor"),
        "layer_label": layer_label(view.layer),
        "may_take_back": may(request, "posts.review.approve", post),
        "back": post_url("revisions", post),
    }
    title = _("Rejected in %(layer)s: %(title)s") % {
        "layer": layer_label(view.layer),
        "title": post.title,
    }
    return post_page(
        request,
        "admin/posts/rejection.html",
        post,
        layers,
        context,
        title=title,
        tab="revisions",
    )


def _take_back(request: HttpRequest, post: Post, ids: Sequence[int]) -> HttpResponse:
    """Restore rejected changes. The button in a message sends no paths, which restores all."""
    ticked = request.POST.getlist("path") if "chosen" in request.POST else None
    try:
        if ticked == []:
            messages.error(request, _("Select the changes to restore."))
            return HttpResponseRedirect(request.path)
        done = undo_rejections(
            post_id=post.pk, rejections=ids, actor=actor_of(request), paths=ticked
        )
    except CmsError as error:
        if error.status in (403, 404):
            raise
        messages.error(request, error.message)
        return HttpResponseRedirect(request.path)
    text = ngettext(
        "%(count)s change is waiting in %(layer)s again.",
        "%(count)s changes are waiting in %(layer)s again.",
        len(done.paths),
    )
    said = text % {"count": len(done.paths), "layer": layer_label(done.layer)}
    messages.success(request, said)
    return HttpResponseRedirect(review_url(post, done.layer))
