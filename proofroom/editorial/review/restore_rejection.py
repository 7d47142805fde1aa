"""A rejection, seen again: what it dropped, and a person's word that it is to be proposed again after all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.changes import apply
from content.inbox.rejections import (
    changes_of,
    filter_kept,
    find_rejections,
    is_untouched,
    take_back_rejections,
)
from content.models import Layer, Post, RejectedChange
from content.review.cards import cards_between
from content.review.labels import label_of, module_names
from content.review.references import references_of
from proofroom.core.admin.permissions import actor_of, answers_refusals, may, require
from proofroom.core.errors import CmsError
from proofroom.core.models import Event
from proofroom.editorial.posts.post_pages import (
    MAX_REJECTIONS,
    layer_label,
    post_page,
    post_url,
    read,
    review_url,
)

_ID: Final = "[1-9][0-9]{0,17}"
_IDS: Final = re.compile(f"{_ID}(?:,{_ID}){{0,{MAX_REJECTIONS - 1}}}")


@answers_refusals
def rejection(request: HttpRequest, post_id: UUID, rejections: str) -> HttpResponse:
    """GET shows what these rejections dropped, POST takes back what is ticked, or all of it."""
    require(request, "posts.view")
    post, layers = read(post_id)
    if not _IDS.fullmatch(rejections):
        raise Http404(_("No such rejection."))
    ids = [int(id_) for id_ in rejections.split(",")]
    if request.method == "POST":
        return _take_back(request, post, ids)
    rows = find_rejections(post, ids)
    view = layers.view(Layer(rows[0].layer))
    # Who rejected it, when and why: of these rejections, and of nothing else that happened to the post.
    of = {row.rejection for row in rows}
    # What can come back as cards; the rest by name, with why not.
    kept = filter_kept(rows)
    free = [one for one in kept if is_untouched(one, view)]
    paths = {one.row.path for one in free}
    changes = changes_of(free, view)
    after = apply(view.document, changes)
    references = references_of(changes, view.document, after)
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
        "may_take_back": may(request, "posts.review.approve"),
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
    """The button in the message that follows a rejection names no paths, and means all of it."""
    ticked = request.POST.getlist("path") if "chosen" in request.POST else None
    try:
        if ticked == []:
            messages.error(request, _("Tick what is to come back."))
            return HttpResponseRedirect(request.path)
        done = take_back_rejections(
            post_id=post.pk, rejections=ids, actor=actor_of(request), paths=ticked
        )
    except CmsError as error:
        if error.status in (403, 404):
            raise
        messages.error(request, error.message)
        return HttpResponseRedirect(request.path)
    text = ngettext(
        "%(count)s change waits in %(layer)s again, as it was proposed.",
        "%(count)s changes wait in %(layer)s again, as they were proposed.",
        len(done.paths),
    )
    said = text % {"count": len(done.paths), "layer": layer_label(done.layer)}
    messages.success(request, said)
    return HttpResponseRedirect(review_url(post, done.layer))
