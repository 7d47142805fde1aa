"""The overview on the home page: open work, failures, recent changes, and system problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django.db.models import CharField, Count, QuerySet, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from agents_app.admin.labels import agent_name
from agents_app.budgets.limits import ALL_AGENTS_KEY, today
from agents_app.budgets.reservations import find_notices
from agents_app.models import AgentRun, BudgetNotice, RunStatus
from agents_app.runs.scopes import visible_runs
from analytics.admin.charts import Chart, ChartPeriod, draw_chart
from analytics.periods import read_period
from analytics.rollups.summaries import Totals, over_time
from cms_project.own_posts import last_written, own_posts
from cms_project.site_setup import site_setup
from cms_project.system_health import lights
from content.comparison.references import media_view
from content.document.labels import type_label
from content.inbox.queries import WaitingPost, list_waiting_posts, queue
from content.models import SCHEDULED, Layer, Post, Status
from content.store.opening_images import load_pictures, opening_module
from content.store.scopes import filter_by_visible_post, visible_to
from proofroom.core.actor import Actor
from proofroom.core.admin.charts import HEIGHT
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.content_scope import Scoped
from proofroom.core.i18n.ages import age_of
from proofroom.shared_content.approval import APPROVE
from proofroom.webhooks.queries import failed_since, switched_off
from proofroom_apps.editorial.inbox.page import inbox_url
from proofroom_apps.editorial.inbox.queue_rows import author_of, risk_word
from proofroom_apps.editorial.inbox.sections import (
    InboxSection,
    inbox_sections,
    waiting_sections,
)
from proofroom_apps.editorial.posts.authors import client_names
from proofroom_apps.editorial.posts.post_pages import (
    layer_label,
    review_url,
    title_of,
    with_proposed_titles,
)
from proofroom_apps.editorial.shared_content.review import waiting_lines, waiting_shared
from proofroom_apps.feedback.models import Feedback, FeedbackStatus


@dataclass(frozen=True, slots=True)
class Views:
    """The chart of views. `percent`: change from the previous period; None if that had no views."""

    chart: Chart
    total: int
    before: int
    percent: int | None

    @property
    def is_down(self) -> bool:
        return self.total < self.before

    @property
    def is_empty(self) -> bool:
        return not (self.total or self.before)


def views(who: Scoped) -> Views:
    """Return the chart of views. Two queries."""
    period = read_period({})
    now, then = over_time(period, None, who), over_time(period.before(), None, who)
    stretches = [
        ChartPeriod(
            moment.date,
            moment.date,
            Totals(moment.views, moment.clicks, moment.conversions),
            Totals(then[place].views) if place < len(then) else None,
        )
        for place, moment in enumerate(now)
    ]
    total, before = sum(one.views for one in now), sum(one.views for one in then)
    percent = round(abs(total - before) * 100 / before) if before else None
    return Views(draw_chart("views", stretches), total, before, percent)


RECENT: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
BROKEN_RUNS: Final = (RunStatus.FAILED, RunStatus.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class CountTile:
    """A number on the home page. `tone`: none for 0, else ai, review, plain or problem."""

    label: str
    count: int
    url: str
    tone: str
    note: str = ""


_DECIDE: Final = {
    Layer.AI_REVIEW: "posts.ai-review.approve",
    Layer.REVIEW: "posts.review.approve",
}


def decidable_layers(request: HttpRequest) -> list[Layer]:
    """Return the layers whose changes the user may decide."""
    return [layer for layer, permission in _DECIDE.items() if may(request, permission)]


def count_waiting(request: HttpRequest) -> Counter[str]:
    """Return the numbers of items the user can act on, by name. One query."""
    actor = actor_of(request)
    waiting, decidable = queue(actor), decidable_layers(request)
    parts: dict[str, QuerySet[Any]] = {
        # Both layers even if the user may decide neither: the query below needs a first part.
        layer: waiting.filter(layer=layer) if layer in decidable else waiting.none()
        for layer in Layer
    }
    if may(request, APPROVE):
        parts["shared"] = waiting_shared(request)
    for section, rows in waiting_sections(request):
        parts[_key_of(section)] = rows
    if may(request, "feedback.resolve"):
        parts["feedback"] = open_feedback(actor)
    if may(request, "posts.publish"):
        parts["scheduled"] = scheduled(actor)
    if may(request, "agents.view"):
        parts["runs"] = broken_runs(actor)
    if may(request, "webhooks.manage"):
        parts["deliveries"] = failed_since(timezone.now() - RECENT)
    # A UNION of counts, because the page would otherwise need one query per number.
    first, *more = [
        rows.order_by()
        .annotate(what=Value(name, output_field=CharField()))
        .values_list("what")
        .annotate(number=Count("pk"))
        for name, rows in parts.items()
    ]
    return Counter(dict(first.union(*more, all=True)))


def tiles(request: HttpRequest, counts: Counter[str]) -> list[CountTile]:
    """Return the tiles: at most six, and one for each section of the inbox with something in it."""
    decidable, found = decidable_layers(request), []
    if Layer.AI_REVIEW in decidable:
        address = inbox_url(layer=Layer.AI_REVIEW)
        found.append(_tile(layer_label(Layer.AI_REVIEW), counts[Layer.AI_REVIEW], address, "ai"))
    if Layer.REVIEW in decidable:
        number, address = counts[Layer.REVIEW] + counts["shared"], inbox_url(layer=Layer.REVIEW)
        found.append(_tile(layer_label(Layer.REVIEW), number, address, "review"))
    found += [
        _tile(str(section.label), number, reverse("admin:inbox"), "review")
        for section in inbox_sections
        if (number := counts[_key_of(section)])
    ]
    if may(request, "feedback.resolve"):
        address = _list(
            "proofroom_feedback_feedback", {"status__exact": FeedbackStatus.PENDING.value}
        )
        found.append(_tile(_("Open feedback"), counts["feedback"], address, "plain"))
    if may(request, "posts.publish"):
        query = {"status__exact": SCHEDULED}
        address = _list("content_post", query)
        found.append(_tile(pgettext("posts", "Scheduled"), counts["scheduled"], address, "plain"))
    note, since = _("in the last 24 hours"), (timezone.now() - RECENT).isoformat(timespec="seconds")
    if may(request, "agents.view"):
        query = {"status__in": ",".join(BROKEN_RUNS), "created_at__gte": since}
        address = _list("agents_app_agentrun", query)
        found.append(_tile(_("Failed runs"), counts["runs"], address, "problem", note))
    if may(request, "webhooks.manage"):
        query = {"status__exact": "failed", "finished_at__gte": since}
        address = _list("proofroom_webhooks_delivery", query)
        number = counts["deliveries"]
        found.append(_tile(_("Failed deliveries"), number, address, "problem", note))
    return found


def _key_of(section: InboxSection) -> str:
    return f"section {section.name}"


def _list(name: str, query: Mapping[str, str]) -> str:
    """Return the URL of the list with exactly the items that a tile counts."""
    return f"{reverse(f'admin:{name}_changelist')}?{urlencode(query)}"


def _tile(label: str, count: int, url: str, tone: str, note: str = "") -> CountTile:
    return CountTile(label, count, url, tone if count else "none", note)


def scheduled(who: Scoped) -> QuerySet[Post]:
    """Return drafts with a publication date, the next first."""
    due = visible_to(Post.objects.alive(), who).filter(
        status=Status.DRAFT, publish_at__isnull=False
    )
    return due.order_by("publish_at", "pk")


def open_feedback(who: Scoped) -> QuerySet[Feedback]:
    pending = Feedback.objects.filter(status=FeedbackStatus.PENDING, post__deleted_at__isnull=True)
    return filter_by_visible_post(pending, who)


def broken_runs(who: Actor) -> QuerySet[AgentRun]:
    """Return runs of the last day that failed."""
    since = timezone.now() - RECENT
    return visible_runs(AgentRun.objects.all(), who, who.user.pk).filter(
        status__in=BROKEN_RUNS, created_at__gte=since
    )


_MAX_ITEMS: Final = 6
_MAX_SHORT_ITEMS: Final = 4


@dataclass(frozen=True, slots=True)
class Recent:
    """A recently changed post. `picture`: empty if it has none."""

    post: Post
    title: str
    type: str
    picture: str
    age: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A post with staged changes."""

    title: str
    url: str
    count: int
    risk: int
    risk_word: str
    type: str
    who: str
    of: WaitingPost


def overview(request: HttpRequest) -> dict[str, Any]:
    """Return the parts that the user may see, with a few items each. The number of queries is constant."""
    if not may(request, "posts.view"):
        return {}
    actor = actor_of(request)
    counts = count_waiting(request)
    recent, is_own = _recent(actor)
    own = own_posts(actor)
    this_week = scheduled(actor).filter(publish_at__lt=timezone.now() + WEEK)
    feedback = open_feedback(actor).select_related("post", "author").order_by("-created_at", "-pk")
    waiting = list_waiting_posts([layer for layer in Layer if counts[layer]], _MAX_ITEMS, actor)
    listed = [each.change.principal for posts in waiting.values() for each in posts]
    clients = client_names(listed, actor)
    checked = lights() if may(request, "settings.manage") else []
    return {
        "tiles": tiles(request, counts),
        "ai_review": _waiting(Layer.AI_REVIEW, waiting, clients),
        "review": _waiting(Layer.REVIEW, waiting, clients),
        "shared_waiting": waiting_lines(request)[:_MAX_SHORT_ITEMS] if counts["shared"] else [],
        "decidable": decidable_layers(request),
        "own_posts": own,
        "is_sent_back": any(one.is_sent_back for one in own),
        "recent_posts": recent,
        "is_recent_own": is_own,
        "is_new": not recent,
        "setup": site_setup(request),
        # A count is 0 for what the user may not see, and nothing with a count of 0 is queried.
        "scheduled": [*this_week[:_MAX_SHORT_ITEMS]] if counts["scheduled"] else [],
        "feedback": [*feedback[:_MAX_SHORT_ITEMS]] if counts["feedback"] else [],
        "failed_runs": _with_names(broken_runs(actor)) if counts["runs"] else [],
        "recent_runs": _recent_runs(actor) if may(request, "agents.view") else [],
        "budgets": _budgets() if may(request, "agents.edit") else [],
        "may_create": may(request, "posts.create"),
        "views": views(actor) if may(request, "analytics.read") else None,
        "chart_height": HEIGHT,
        "has_lights": bool(checked),
        "problems": [light for light in checked if light.level != "ok"],
        **(_calls(counts["deliveries"]) if may(request, "webhooks.manage") else {}),
    }


def _recent(actor: Actor) -> tuple[list[Recent], bool]:
    """Return the posts that the user changed last, and True. If there are none, the latest of all, and False."""
    visible = visible_to(Post.objects.alive(), actor)
    alive = with_proposed_titles(visible).select_related("featured_media")
    alive = alive.annotate(opening=opening_module())
    written = last_written(actor)
    found = alive.in_bulk(written) if written else {}
    posts = [found[id_] for id_ in written if id_ in found]
    is_own = bool(posts)
    if not is_own:
        posts = list(alive.order_by("-updated_at")[:_MAX_ITEMS])
    pictures = load_pictures(posts)
    rows = [
        Recent(
            post,
            title_of(post),
            type_label(post.type),
            media_view(pictures[post.pk]).url if post.pk in pictures else "",
            age_of(post.updated_at),
        )
        for post in posts
    ]
    return rows, is_own


def _waiting(
    layer: Layer, waiting: Mapping[str, Sequence[WaitingPost]], clients: Mapping[str, str]
) -> list[Waiting]:
    return [
        Waiting(
            title=title_of(each.change.post, each.change),
            url=review_url(each.change.post, layer),
            count=each.count,
            risk=each.weight,
            risk_word=risk_word(each.weight),
            type=type_label(each.change.post.type),
            who=author_of(each.change, None, clients),
            of=each,
        )
        for each in waiting.get(layer, ())
    ]


def _calls(failed: int) -> dict[str, Any]:
    """Return failed deliveries of the last day, and webhooks disabled because of failures."""
    return {
        "failed_deliveries": failed_since(timezone.now() - RECENT)[:_MAX_ITEMS] if failed else [],
        "failed_delivery_count": failed,
        "off_webhooks": list(switched_off()[:_MAX_ITEMS]),
    }


def _budgets() -> list[tuple[str, BudgetNotice]]:
    """Return budgets that are used up, or nearly."""
    found = find_notices(today())[:_MAX_ITEMS]
    together = _("All agents together")
    return [
        (together if item.agent_id == ALL_AGENTS_KEY else agent_name(item.agent_id), item)
        for item in found
    ]


def _recent_runs(who: Actor) -> list[tuple[str, AgentRun]]:
    """Return the latest successful runs since yesterday."""
    since = timezone.now() - RECENT
    return _with_names(
        visible_runs(AgentRun.objects.all(), who, who.user.pk).filter(
            status=RunStatus.SUCCEEDED, created_at__gte=since
        )
    )


def _with_names(runs: QuerySet[AgentRun]) -> list[tuple[str, AgentRun]]:
    rows = runs.select_related("post").defer("context", "value").order_by("-created_at", "id")
    return [(agent_name(run.agent_id), run) for run in rows[:_MAX_SHORT_ITEMS]]
