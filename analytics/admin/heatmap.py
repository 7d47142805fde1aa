"""The heatmap of a post: visitors' clicks drawn over its page, with lists and figures beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.models import EventType, HeatSheet, PostCount
from analytics.periods import Period, day_of, read_period, today
from analytics.rollups.aggregate import catch_up
from analytics.rollups.heatmaps import (
    Heatmap,
    HeatmapSpec,
    ModuleClicks,
    Spot,
    Versions,
    module_clicks,
    page_heatmap,
    versions_beside,
)
from content.document.document import PostDocument
from content.document.labels import module_names
from content.models import Post, Revision
from content.store.scopes import require_visible
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom_apps.editorial.posts.extensions import PostTab
from proofroom_apps.editorial.posts.post_pages import post_page, read
from proofroom_apps.editorial.posts.revisions import find_revision

PALEST_SCALE: Final = 4
"""Minimum count of the strongest color, so that a single click does not get it."""
_MAX_SPOTS_LISTED: Final = 20
_MAX_REVISIONS: Final = 100
_REASONS: Final = {"created", "before"}
"""Reasons of revisions that are no change to compare before and after."""
WIDTHS: Final[Mapping[str, int]] = {"all": 1280, "mobile": 390, "tablet": 820, "desktop": 1280}
"""Width of the page in pixels by class of device."""
DEVICES: Final = {
    "all": gettext_lazy("All"),
    "mobile": gettext_lazy("Phone"),
    "tablet": gettext_lazy("Tablet"),
    "desktop": gettext_lazy("Desktop"),
}
EVENTS: Final = {
    EventType.CLICK.value: gettext_lazy("Clicks"),
    EventType.VIEW.value: gettext_lazy("Views"),
}
SIDES: Final = {
    "before": gettext_lazy("Before"),
    "after": gettext_lazy("After"),
    "both": gettext_lazy("Side by side"),
}
SPANS: Final = {7: gettext_lazy("7 days"), 30: gettext_lazy("30 days"), 90: gettext_lazy("90 days")}
_DEFAULT_DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class HeatFilter:
    """The filter of a heatmap. `days` is 0 for custom dates; `problem`: reason why they are invalid."""

    device: str
    event: str
    days: int
    own: Period | None
    revision: Revision | None
    side: str
    problem: str = ""

    @property
    def width(self) -> int:
        return WIDTHS[self.device]

    def query(self, **other: str) -> str:
        """Return the query string of this page with some values changed."""
        dates = {"days": str(self.days)}
        if self.own is not None:
            dates = {"from": str(self.own.first), "to": str(self.own.last)}
        values = {
            "viewport": self.device,
            "eventType": self.event,
            **dates,
            **({"revisionId": str(self.revision.pk), "side": self.side} if self.revision else {}),
        }
        if "days" in other:
            values = {name: value for name, value in values.items() if name not in ("from", "to")}
        return "?" + urlencode(values | other)

    def period(self, side: str = "") -> Period:
        """Return the days of one side: up to the approval, or from it on; without a revision the last days."""
        if self.own is not None:
            return self.own
        last, days = today(), timedelta(days=self.days - 1)
        if self.revision is None:
            return Period(last - days, last)
        turn = day_of(self.revision.created_at)
        return (
            Period(turn - days, turn) if side == "before" else Period(turn, min(turn + days, last))
        )


def read_heat_filter(request: HttpRequest, post: Post) -> HeatFilter:
    """Return the requested filter; unknown values get the default. Raises `Http404` for a revision of
    another post.
    """
    asked = {name: str(value) for name, value in request.GET.items() if value}
    own, problem = None, ""
    if "from" in asked or "to" in asked:
        try:
            own = read_period(asked)
        except RuleViolation as error:
            problem = error.message
    device, event, side = (asked.get(name) for name in ("viewport", "eventType", "side"))
    revision_id, days = asked.get("revisionId", ""), asked.get("days", "")
    known_days = {str(span): span for span in SPANS}
    return HeatFilter(
        device=device if device in DEVICES else "all",
        event=event if event in EVENTS else EventType.CLICK.value,
        days=0 if own else known_days.get(days, _DEFAULT_DAYS),
        own=own,
        revision=find_revision(post, revision_id) if revision_id else None,
        side=side if side in SIDES else "both",
        problem=problem,
    )


@dataclass(frozen=True, slots=True)
class Stage:
    """One page in its frame, its heatmap, and its period."""

    name: str
    heading: str
    version: int | None
    period: Period
    frame_url: str
    names: dict[str, str]
    rest: Heatmap
    modules: Sequence[ModuleClicks]

    @property
    def cells(self) -> JsonObject:
        """Return the data for the script: positions relative to modules, and to the page's width elsewhere."""
        return {
            "page": [_spot_values(spot) for spot in self.rest.spots],
            "modules": {
                module.post_module_id: [_spot_values(spot) for spot in module.spots]
                for module in self.modules
                if module.spots
            },
        }

    @property
    def cells_id(self) -> str:
        return f"heat-cells-{self.name}"

    @property
    def total(self) -> int:
        return self.rest.total + sum(spot.count for one in self.modules for spot in one.spots)

    @property
    def most(self) -> int:
        """Number of hits of the most hit spot."""
        return max([self.rest.max, *(spot.count for one in self.modules for spot in one.spots)])


@dataclass(frozen=True, slots=True)
class ModuleFigure:
    """The clicks of a module in one stage. `share`: percent of the stage's total."""

    heading: str
    clicks: int
    share: float


@dataclass(frozen=True, slots=True)
class ModuleLine:
    """A module in the ranked list. `url` shows it in the frame; empty if the module is gone."""

    id: str
    name: str
    url: str
    target: str
    figures: Sequence[ModuleFigure]


@dataclass(frozen=True, slots=True)
class SpotLine:
    """One of the most hit spots. `down`: percent of a module, or pixels of the page."""

    place: str
    is_of_page: bool
    across: int
    down: int
    count: int


def stages_of(post: Post, live: PostDocument, asked: HeatFilter) -> list[Stage]:
    """Return the live page; or the page before an approval, after it, or both in that order."""
    catch_up()
    revision = asked.revision
    if revision is None:
        return [_stage(post, live, asked, "live", "", None, (None, None))]
    found = []
    before = post.revisions.filter(version__lt=revision.version).order_by("-version").first()
    if asked.side != "after" and before is not None:
        document = PostDocument.from_json(before.document)
        versions: Versions = (before.version, revision.version)
        found.append(_stage(post, document, asked, "before", _("Before"), before, versions))
    if asked.side != "before":
        document = PostDocument.from_json(revision.document)
        versions = versions_beside(revision, "after")
        found.append(_stage(post, document, asked, "after", _("After"), revision, versions))
    return found


def _stage(
    post: Post,
    document: PostDocument,
    asked: HeatFilter,
    name: str,
    heading: str,
    revision: Revision | None,
    versions: Versions,
) -> Stage:
    wanted = HeatmapSpec(
        post_id=post.pk,
        period=asked.period(name),
        event_type=asked.event,
        device=None if asked.device == "all" else asked.device,
        versions=versions,
    )
    query = f"?revisionId={revision.pk}" if revision else ""
    return Stage(
        name=name,
        heading=heading,
        version=revision.version if revision else None,
        period=wanted.period,
        frame_url=reverse("admin:analytics-heatmap-frame", args=[post.pk]) + query,
        names=module_names(document),
        rest=page_heatmap(wanted, without_modules=True),
        modules=module_clicks(wanted),
    )


def module_lines(stages: Sequence[Stage]) -> list[ModuleLine]:
    """Return the modules by their clicks in all stages, most clicked first, unclicked ones last."""
    clicks = [{one.post_module_id: one.clicks for one in stage.modules} for stage in stages]
    labels = {one.post_module_id: one.label for stage in stages for one in stage.modules}
    known = dict.fromkeys([*labels, *(id_ for stage in stages for id_ in stage.names)])
    totals = [stage.total for stage in stages]
    lines = []
    for id_ in known:
        shown = next((stage for stage in reversed(stages) if id_ in stage.names), None)
        figures = []
        for stage, found, total in zip(stages, clicks, totals, strict=True):
            count = found.get(id_, 0)
            share = round(min(100.0, count * 100 / total), 1) if total else 0.0
            figures.append(ModuleFigure(stage.heading, count, share))
        lines.append(
            ModuleLine(
                id=id_,
                name=shown.names[id_] if shown else labels[id_],
                url=f"{shown.frame_url}#module-{id_}" if shown else "",
                target=f"heat-{shown.name}" if shown else "",
                figures=figures,
            )
        )
    return sorted(lines, key=lambda one: -sum(figure.clicks for figure in one.figures))


def spot_lines(stage: Stage) -> list[SpotLine]:
    """Return the most hit spots."""
    rest = [
        SpotLine("", True, round(spot.x * 100), round(spot.y), spot.count)
        for spot in stage.rest.spots[:_MAX_SPOTS_LISTED]
    ]
    of_modules = [
        SpotLine(
            stage.names.get(module.post_module_id, module.label),
            False,
            round(spot.x * 100),
            round(spot.y * 100),
            spot.count,
        )
        for module in stage.modules
        for spot in module.spots[:_MAX_SPOTS_LISTED]
    ]
    return sorted(rest + of_modules, key=lambda line: -line.count)[:_MAX_SPOTS_LISTED]


def scale_of(stages: Sequence[Stage]) -> list[int]:
    """Return the counts at the left, middle and right of the legend. Colors grow with the square root
    of the count.
    """
    most = max([PALEST_SCALE, *(stage.most for stage in stages)])
    return [0, round(most / 4), most]


def _spot_values(spot: Spot) -> list[float]:
    return [spot.x, spot.y, spot.count]


@dataclass(frozen=True, slots=True)
class HeatmapSwitch:
    """A link to another value of the filter."""

    label: str
    url: str
    is_current: bool
    count: int | None = None


@service_errors_as_http
def heatmap(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the heatmap. It only reads figures; the frame shows the live page, or an earlier one."""
    require(request, "analytics.read")
    post, layers = read(request, post_id)
    require_visible(post, actor_of(request))
    heat_filter = read_heat_filter(request, post)
    stages = stages_of(post, layers.live, heat_filter)
    modules = module_lines(stages)
    # The revisions that changed the live content, newest first, always including the selected one.
    changes = post.revisions.defer("document").exclude(reason__in=_REASONS)
    found = list(changes.order_by("-version")[:_MAX_REVISIONS])
    if heat_filter.revision is not None and all(one.pk != heat_filter.revision.pk for one in found):
        found.append(heat_filter.revision)
    # The links above the page. Events are offered only if views have positions, sides only with a revision.
    days = {str(number): label for number, label in SPANS.items()}
    seen = HeatSheet.objects.filter(post_id=post.pk, event_type=EventType.VIEW)
    offers_events = heat_filter.event != EventType.CLICK or seen.exists()
    # Variations have their own heatmaps, because their visitors are not counted on this page.
    counted = Exists(PostCount.objects.filter(post_id=OuterRef("pk")))
    context = {
        "asked": heat_filter,
        "devices": _switches(heat_filter, "viewport", DEVICES, heat_filter.device),
        "spans": _switches(heat_filter, "days", days, str(heat_filter.days)),
        "events": _switches(heat_filter, "eventType", EVENTS, heat_filter.event)
        if offers_events
        else [],
        "sides": _switches(heat_filter, "side", SIDES, heat_filter.side)
        if heat_filter.revision
        else [],
        "revisions": found,
        "stages": [(stage, spot_lines(stage)) for stage in stages],
        "modules": [line for line in modules if line.url],
        "gone": [line for line in modules if not line.url],
        "scale": scale_of(stages),
        "total": sum(stage.total for stage in stages),
        "others": list(
            post.variations.filter(counted, deleted_at__isnull=True).order_by("variation")
        ),
        "is_tracked": settings.CMS_ENV.analytics_tracking,
        "today": today(),
    }
    return post_page(
        request,
        "admin/analytics/heatmap.html",
        post,
        layers,
        context,
        title=_("Heatmap: %(title)s") % {"title": post.title},
        tab="heatmap",
        status=422 if heat_filter.problem else 200,
    )


def _switches(
    asked: HeatFilter, name: str, known: dict[str, Any], current: str
) -> list[HeatmapSwitch]:
    return [
        HeatmapSwitch(str(label), asked.query(**{name: value}), value == current)
        for value, label in known.items()
    ]


def heatmap_tabs(request: HttpRequest, post: Post) -> list[PostTab]:
    """Return the tab of posts that visitors may have seen, with `analytics.read`. No query."""
    is_seen = post.published_at is not None or post.variation_of_id is not None
    if not is_seen or not may(request, "analytics.read"):
        return []
    url = reverse("admin:analytics-heatmap", args=[post.pk])
    return [PostTab("heatmap", _("Heatmap"), url)]
