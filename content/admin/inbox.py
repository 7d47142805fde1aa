"""The inbox: posts where something waits for a person, newest first."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse

from content.admin.authors import AI_DOORS
from content.admin.pages import page, review_url
from content.admin.titles import drafts_with_titles, title_of
from content.models import Draft, Layer
from core.admin.rights import answers_refusals, require

_PAGE = 50


def waiting(layer: str = "") -> Any:
    """Drafts that hold something, of posts that are not deleted. One query."""
    rows = Draft.objects.filter(is_empty=False, post__deleted_at__isnull=True)
    if layer in Layer.values:
        rows = rows.filter(layer=layer)
    return (
        drafts_with_titles(rows)
        .select_related("post", "updated_by")
        .defer("base", "document")
        .order_by("-updated_at", "-pk")
    )


def entry(draft: Draft) -> dict[str, object]:
    """A line of the inbox."""
    agents = {
        str(mark.get("agent_id") or mark.get("user"))
        for mark in draft.marks.values()
        if mark.get("agent_id") or mark.get("via") in AI_DOORS
    }
    return {
        "post": draft.post,
        "title": title_of(draft.post, draft),
        "is_proposed": draft.post.is_placeholder,
        "layer": Layer(draft.layer),
        "is_ai": draft.layer == Layer.AI_REVIEW,
        "count": len(draft.marks),
        "agents": sorted(agents),
        "by": draft.updated_by,
        "at": draft.updated_at,
        "url": review_url(draft.post, draft.layer),
    }


@answers_refusals
def inbox(request: HttpRequest) -> HttpResponse:
    """`?layer=` shows one layer only."""
    require(request, "posts.view")
    layer = request.GET.get("layer", "")
    found = Paginator(waiting(layer), _PAGE).get_page(request.GET.get("page"))
    context = {
        "entries": [entry(draft) for draft in found],
        "page_obj": found,
        "layer": layer if layer in Layer.values else "",
    }
    return page(request, "admin/inbox.html", context, title="Inbox")
