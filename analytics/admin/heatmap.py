"""Where visitors of a post clicked: drawn over its page, and in words and figures beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from analytics.admin.heatmap_filter import (
    DEVICES,
    EVENTS,
    SIDES,
    SPANS,
    HeatFilter,
    read_filter,
    today,
)
from analytics.admin.heatmap_stages import module_lines, scale_of, spot_lines, stages_of
from analytics.models import EventType, HeatSheet, PostCount
from content.models import Post
from proofroom.core.admin.permissions import answers_refusals, may, require
from proofroom.editorial.posts.panels import PostTab, post_tabs
from proofroom.editorial.posts.post_pages import post_page, read

_REVISIONS: Final = 100
_REASONS: Final = {"created", "before"}
"""What makes no change that could be looked at before and after."""


@dataclass(frozen=True, slots=True)
class HeatmapSwitch:
    """A link of a switch."""

    label: str
    url: str
    is_current: bool
    count: int | None = None


@answers_refusals
def heatmap(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """The page of the admin. It reads figures only; the frame shows what is live, or what was."""
    require(request, "analytics.view")
    post, layers = read(post_id)
    asked = read_filter(request, post)
    stages = stages_of(post, layers.live, asked)
    modules = module_lines(stages)
    # What changed the live content, newest first; the chosen one is always among it.
    changes = post.revisions.defer("document").exclude(reason__in=_REASONS)
    found = list(changes.order_by("-version")[:_REVISIONS])
    if asked.revision is not None and all(one.pk != asked.revision.pk for one in found):
        found.append(asked.revision)
    context = {
        "asked": asked,
        **_switches(post, asked),
        "revisions": found,
        "stages": [(stage, spot_lines(stage)) for stage in stages],
        "modules": [line for line in modules if line.url],
        "gone": [line for line in modules if not line.url],
        "scale": scale_of(stages),
        "total": sum(stage.total for stage in stages),
        "others": _others(post),
        "is_tracked": settings.CMS_ENV.analytics_tracking,
        "today": today(),
    }
    return post_page(
        request,
        "admin/analytics/heatmap.html",
        post,
        layers,
        context,
        title=gettext("Heatmap: %(title)s") % {"title": post.title},
        tab="heatmap",
        status=422 if asked.problem else 200,
    )


def _switches(post: Post, asked: HeatFilter) -> dict[str, list[HeatmapSwitch]]:
    """The links above the page. Events are offered where views have a place too, sides beside an approval."""
    days = {str(number): label for number, label in SPANS.items()}
    seen = HeatSheet.objects.filter(post_id=post.pk, event_type=EventType.VIEW)
    offers_events = asked.event != EventType.CLICK or seen.exists()
    return {
        "devices": _links(asked, "viewport", DEVICES, asked.device),
        "spans": _links(asked, "days", days, str(asked.days)),
        "events": _links(asked, "eventType", EVENTS, asked.event) if offers_events else [],
        "sides": _links(asked, "side", SIDES, asked.side) if asked.revision else [],
    }


def _others(post: Post) -> list[Post]:
    """Variations whose visitors are not among those of this page."""
    counted = Exists(PostCount.objects.filter(post_id=OuterRef("pk")))
    return list(post.variations.filter(counted, deleted_at__isnull=True).order_by("variation"))


def _links(
    asked: HeatFilter, name: str, known: dict[str, Any], current: str
) -> list[HeatmapSwitch]:
    return [
        HeatmapSwitch(str(label), asked.query(**{name: value}), value == current)
        for value, label in known.items()
    ]


def heatmap_url(post_id: UUID | str) -> str:
    return reverse("admin:analytics-heatmap", args=[post_id])


def heatmap_tabs(request: HttpRequest, post: Post) -> list[PostTab]:
    """A link above the pages of a post that visitors may have seen, for whoever may read figures. No query."""
    is_seen = post.published_at is not None or post.variation_of_id is not None
    if not is_seen or not may(request, "analytics.view"):
        return []
    return [PostTab("heatmap", gettext("Heatmap"), heatmap_url(post.pk))]


post_tabs.register(heatmap_tabs)
