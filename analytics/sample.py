"""Figures of the demo: forty days of invented visits, and a running experiment. The command `seed`
calls it.

Every event has `"sample": true` in its metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from analytics.ingest.event_store import write_events
from analytics.models import AnalyticsEvent
from content.document.document import PostDocument
from content.models import Post, PostModule
from content.posts.edit import edit_post
from content.posts.variations import create_variation
from content.store import document_edits
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject

DAYS: Final = 40
TESTED_DAYS: Final = 21
TESTED: Final = ("services", "en")
_VISITS: Final = 100
"""Number of visits on a midweek day."""
_WEEK: Final = (0.9, 1.0, 1.1, 1.0, 0.8, 0.5, 0.6)
_WIDTHS: Final = {390: 45, 412: 10, 820: 10, 1280: 20, 1440: 15}
_REFERRERS: Final = {
    "": 45, "search.example": 35, "news.example": 8, "social.example": 7, "friends.example": 5,
}  # fmt: skip
_TYPES: Final = ("page", "blog")
_HOURS: Final = (6, 7, 8, 9, 9, 10, 11, 12, 12, 13, 14, 15, 16, 18, 19, 20, 20, 21)
_SPOTS: Final = ((0.2, 0.75), (0.5, 0.4), (0.78, 0.6))
"""Positions of links and buttons in a module."""
_RATES: Final = {"": 0.04, "B": 0.07}
"""Share of an arm's visitors who submit the form."""


@dataclass(frozen=True, slots=True)
class _VisitedPage:
    id: UUID
    path: str
    locale: str
    version: int
    modules: list[str]
    name: str
    """Name of the arm, if it is one."""


def seed(*, actor: Actor) -> None:
    """Create the visits, unless there are events already."""
    original = Post.objects.live().filter(slug=TESTED[0], locale=TESTED[1]).first()
    if original is None or AnalyticsEvent.objects.exists():
        return
    if not original.variations.exists():
        # A second version of the opening for half of the visitors, since three weeks ago.
        arm = create_variation(post_id=original.pk, variation="B", actor=actor)

        def edit(document: PostDocument) -> PostDocument:
            hero = next(module.id for module in document.modules if module.type == "hero")
            words = {"title": "Tell us what slows you down", "subtitle": "We answer with a number."}
            return document_edits.update_module(document, hero, props=words)

        edit_post(post_id=arm.pk, actor=actor, edit=edit)
        # Services cannot start a test in the past, so the rows are changed directly.
        Post.objects.filter(pk=arm.pk).update(variation_running=True)
        arm.revisions.update(created_at=timezone.now() - timedelta(days=DAYS))

    def rank(post: Post) -> tuple[object, ...]:
        place = _TYPES.index(post.type) if post.type in _TYPES else len(_TYPES)
        is_tested = (post.slug, post.locale) == TESTED
        return (
            not is_tested,
            post.locale != "en",
            place,
            post.order_index,
            post.slug,
            post.variation,
        )

    # Most visited first: the tested page, pages, articles; English before other languages.
    live = Post.objects.live().filter(is_placeholder=False)
    visible = Post.objects.filter(Q(pk__in=live) | Q(variation_running=True))
    modules: dict[UUID, list[str]] = {}
    for post_id, id_ in PostModule.objects.order_by("order_index").values_list("post_id", "id"):
        modules.setdefault(post_id, []).append(str(id_))
    pages = [
        _VisitedPage(
            post.pk, post.path, post.locale, post.version, modules.get(post.pk, []), post.variation
        )
        for post in sorted(visible, key=rank)
    ]
    tested = [page for page in pages if page.id == original.pk or page.name]
    plain = [page for page in pages if not page.name]
    dice = Random(7)  # noqa: S311  # the same figures every time
    for ago in range(DAYS, -1, -1):
        _make_day(dice, ago, plain, tested if ago < TESTED_DAYS else [], original.pk)


def _make_day(
    dice: Random, ago: int, pages: list[_VisitedPage], tested: list[_VisitedPage], original: UUID
) -> None:
    day = timezone.now().astimezone(UTC) - timedelta(days=ago)
    # Visits grow over time, with fewer at weekends.
    growth = 1.3 - ago / DAYS * 0.6
    visits = round(_VISITS * _WEEK[day.weekday()] * growth * dice.uniform(0.85, 1.15))
    hours: dict[datetime, list[JsonObject]] = {}
    for _ in range(visits):
        page = pages[min(int(dice.expovariate(1 / 6)), len(pages) - 1)]
        hour = day.replace(hour=dice.choice(_HOURS), minute=0, second=0, microsecond=0)
        of = None
        if tested and page.id == original:
            page, of = dice.choice(tested), str(original)
        rows = [{**row, "variation_of": of} for row in _visit(dice, page, is_tested=of is not None)]
        if ago or hour <= day:  # no visits in the future
            hours.setdefault(hour, []).extend(rows)
    for hour, rows in sorted(hours.items()):
        write_events(rows, at=hour)


def _visit(dice: Random, page: _VisitedPage, *, is_tested: bool) -> Iterator[JsonObject]:
    """Yield a view, some clicks, and sometimes a submitted form."""
    width = dice.choices(list(_WIDTHS), list(_WIDTHS.values()))[0]
    host = dice.choices(list(_REFERRERS), list(_REFERRERS.values()))[0]
    yield _event(page, width, "view", metadata={"referrer": host})
    for _ in range(min(int(dice.expovariate(1.1)), 6) if page.modules else 0):
        place = min(int(dice.expovariate(0.6)), len(page.modules) - 1)
        x, y = dice.choice(_SPOTS)
        x = min(max(dice.gauss(x, 0.03), 0), 1)
        y = min(max(dice.gauss(y, 0.05), 0), 1)
        module: JsonObject = {
            "postModuleId": page.modules[place],
            "moduleX": round(x, 3),
            "moduleY": round(y, 3),
        }
        # The page is not rendered here, so the height of modules is estimated as half of their
        # width.
        down = (place + y) * width * 0.5 + 80
        yield _event(page, width, "click", metadata=module, x=x * width, y=down)
    if is_tested and dice.random() < _RATES[page.name]:
        yield _event(page, None, "click", goal="form:contact")


def _event(
    page: _VisitedPage, width: int | None, event_type: str, *, metadata: JsonObject | None = None,
    x: float | None = None, y: float | None = None, goal: str = "",
) -> JsonObject:  # fmt: skip
    return {
        "event_type": event_type,
        "post_id": str(page.id),
        "x": None if x is None else round(x, 1),
        "y": None if y is None else round(y, 1),
        "viewport_width": width,
        "metadata": {"sample": True, "path": page.path, **(metadata or {})},
        "locale": page.locale,
        "version": page.version,
        "goal": goal,
    }
