"""The heatmap of a post: clicks of visitors drawn over its page, and in words and figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from analytics.admin.heatmap_filter import (
    DEVICES,
    EVENTS,
    SIDES,
    SPANS,
    HeatFilter,
    read_filter,
    today,
)
from analytics.models import EventType, HeatSheet, PostCount
from analytics.rollups import heatmaps
from analytics.rollups.aggregate import catch_up
from analytics.rollups.periods import Period
from analytics.rollups.report_types import Heat, HeatAsked, ModuleClicks, Spot
from content.document import PostDocument
from content.models import Post, Revision
from content.review.labels import module_names
from proofroom.core.admin.permissions import answers_refusals, may, require
from proofroom.core.json import JsonObject
from proofroom.editorial.posts.panels import PostTab, post_tabs
from proofroom.editorial.posts.post_pages import post_page, read

PALEST_SCALE: Final = 4
"""A single click is not the colour of the most, however few there are."""
_SPOTS_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class Stage:
    """One page in its frame, what is drawn over it, and the days that it is of."""

    name: str
    heading: str
    version: int | None
    period: Period
    frame_url: str
    names: dict[str, str]
    rest: Heat
    modules: Sequence[ModuleClicks]

    @property
    def cells(self) -> JsonObject:
        """What the script draws: of modules by parts of their boxes, of the rest of the page by its width."""
        return {
            "page": [_values(spot) for spot in self.rest.spots],
            "modules": {
                module.post_module_id: [_values(spot) for spot in module.spots]
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
        """How often the most hit spot was hit."""
        return max([self.rest.max, *(spot.count for one in self.modules for spot in one.spots)])


@dataclass(frozen=True, slots=True)
class ModuleFigure:
    """The clicks of a module in one stage; `share` is its part of all of the stage, in percent."""

    heading: str
    clicks: int
    share: float


@dataclass(frozen=True, slots=True)
class ModuleLine:
    """A module in the ranked list. `url` shows it in the frame; it is empty where the module is gone."""

    id: str
    name: str
    url: str
    target: str
    figures: Sequence[ModuleFigure]


@dataclass(frozen=True, slots=True)
class SpotLine:
    """One of the most hit spots, in words. `down` of a module is in percent, of the page in pixels."""

    place: str
    is_of_page: bool
    across: int
    down: int
    count: int


def stages_of(post: Post, live: PostDocument, asked: HeatFilter) -> list[Stage]:
    """The live page; or the page before an approval, after it, or both in that order."""
    catch_up()
    revision = asked.revision
    if revision is None:
        return [_stage(post, live, asked, "live", "", None, (None, None))]
    found = []
    before = post.revisions.filter(version__lt=revision.version).order_by("-version").first()
    if asked.side != "after" and before is not None:
        versions = (before.version, revision.version)
        found.append(_side(post, asked, "before", _("Before"), before, versions))
    if asked.side != "before":
        later = post.revisions.filter(version__gt=revision.version).order_by("version")
        end = later.values_list("version", flat=True).first()
        versions_after = (revision.version, end)
        found.append(_side(post, asked, "after", _("After"), revision, versions_after))
    return found


def _side(
    post: Post,
    asked: HeatFilter,
    name: str,
    heading: str,
    revision: Revision,
    versions: tuple[int | None, int | None],
) -> Stage:
    document = PostDocument.from_json(revision.document)
    return _stage(post, document, asked, name, heading, revision, versions)


def _stage(
    post: Post,
    document: PostDocument,
    asked: HeatFilter,
    name: str,
    heading: str,
    revision: Revision | None,
    versions: tuple[int | None, int | None],
) -> Stage:
    wanted = HeatAsked(
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
        rest=heatmaps.heatmap(wanted, without_modules=True),
        modules=heatmaps.module_clicks(wanted),
    )


def module_lines(stages: Sequence[Stage]) -> list[ModuleLine]:
    """The modules by their clicks in all stages, the most clicked first. Those that were not clicked follow."""
    clicks = [{one.post_module_id: one.clicks for one in stage.modules} for stage in stages]
    labels = {one.post_module_id: one.label for stage in stages for one in stage.modules}
    known = dict.fromkeys([*labels, *(id_ for stage in stages for id_ in stage.names)])
    totals = [stage.total for stage in stages]

    def line(id_: str) -> ModuleLine:
        shown = next((stage for stage in reversed(stages) if id_ in stage.names), None)
        figures = [
            ModuleFigure(stage.heading, found.get(id_, 0), _share(found.get(id_, 0), total))
            for stage, found, total in zip(stages, clicks, totals, strict=True)
        ]
        return ModuleLine(
            id=id_,
            name=shown.names[id_] if shown else labels[id_],
            url=f"{shown.frame_url}#module-{id_}" if shown else "",
            target=f"heat-{shown.name}" if shown else "",
            figures=figures,
        )

    return sorted(map(line, known), key=lambda one: -sum(figure.clicks for figure in one.figures))


def spot_lines(stage: Stage) -> list[SpotLine]:
    """The spots that were hit most."""
    rest = [
        SpotLine("", True, round(spot.x * 100), round(spot.y), spot.count)
        for spot in stage.rest.spots[:_SPOTS_LISTED]
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
        for spot in module.spots[:_SPOTS_LISTED]
    ]
    return sorted(rest + of_modules, key=lambda line: -line.count)[:_SPOTS_LISTED]


def scale_of(stages: Sequence[Stage]) -> list[int]:
    """How many clicks the left, the middle and the right of the legend stand for: the colours go by their root."""
    most = max([PALEST_SCALE, *(stage.most for stage in stages)])
    return [0, round(most / 4), most]


def _share(part: int, total: int) -> float:
    return round(min(100.0, part * 100 / total), 1) if total else 0.0


def _values(spot: Spot) -> list[float]:
    return [spot.x, spot.y, spot.count]


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
    # The links above the page. Events are offered where views have a place too, sides beside an approval.
    days = {str(number): label for number, label in SPANS.items()}
    seen = HeatSheet.objects.filter(post_id=post.pk, event_type=EventType.VIEW)
    offers_events = asked.event != EventType.CLICK or seen.exists()
    # Variations whose visitors are not among those of this page.
    counted = Exists(PostCount.objects.filter(post_id=OuterRef("pk")))
    context = {
        "asked": asked,
        **{
            "devices": _links(asked, "viewport", DEVICES, asked.device),
            "spans": _links(asked, "days", days, str(asked.days)),
            "events": _links(asked, "eventType", EVENTS, asked.event) if offers_events else [],
            "sides": _links(asked, "side", SIDES, asked.side) if asked.revision else [],
        },
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
        title=gettext("Heatmap: %(title)s") % {"title": post.title},
        tab="heatmap",
        status=422 if asked.problem else 200,
    )


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
