"""What the home page shows: what waits for whoever looks, what failed, what changed, and how the system is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.admin.labels import agent_name
from agents_app.budgets.limits import ALL_AGENTS_KEY, today
from agents_app.budgets.notices import told_now
from agents_app.models import AgentRun, BudgetNotice
from cms_project.admin_home.counts import (
    LATELY,
    broken_runs,
    counted,
    open_feedback,
    scheduled,
    tiles,
)
from cms_project.admin_home.figures import views
from cms_project.admin_home.lights import lights
from content.inbox.queries import WaitingPost, posts_waiting
from content.models import Feedback, Layer, Post
from content.posts.reference_titles import media_view
from content.review.labels import type_label
from proofroom.core.admin.charts import HEIGHT
from proofroom.core.admin.permissions import may
from proofroom.editorial.inbox.labels import age_of, risk_word
from proofroom.editorial.posts.post_pages import review_url
from proofroom.editorial.posts.titles import title_of, with_proposed_titles
from proofroom.webhooks.queries import failed_since, switched_off

_SHOWN: Final = 6
_FEW: Final = 4


@dataclass(frozen=True, slots=True)
class Recent:
    """A post that changed lately; `picture` is empty where it has none."""

    post: Post
    title: str
    type: str
    picture: str
    age: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A post with something in a layer."""

    title: str
    url: str
    count: int
    risk: int
    risk_word: str
    type: str
    who: str
    of: WaitingPost


def overview(request: HttpRequest) -> dict[str, Any]:
    """The parts that the user may see, each at most a handful. At most so many queries, however much there is."""
    if not may(request, "posts.view"):
        return {}
    recent, counts = _recent(), counted(request)
    waiting = posts_waiting([layer for layer in Layer if counts[layer]], _SHOWN)
    return {
        "tiles": tiles(request, counts),
        "ai_review": _waiting(Layer.AI_REVIEW, waiting),
        "review": _waiting(Layer.REVIEW, waiting),
        "recent_posts": recent,
        "is_new": not recent,
        # What the user may not see is not counted, and what is not there is not asked for.
        "scheduled": scheduled()[:_FEW] if counts["scheduled"] else [],
        "feedback": _feedback() if counts["feedback"] else [],
        "failed_runs": _failed() if counts["runs"] else [],
        "budgets": _budgets() if may(request, "agents.edit") else [],
        "may_create": may(request, "posts.create"),
        "views": views() if may(request, "analytics.view") else None,
        "chart_height": HEIGHT,
        "lights": lights() if may(request, "settings.manage") else [],
        **(_calls(counts["deliveries"]) if may(request, "webhooks.manage") else {}),
    }


def _waiting(layer: Layer, waiting: Mapping[str, Sequence[WaitingPost]]) -> list[Waiting]:
    return [
        Waiting(
            title=title_of(each.change.post, each.change),
            url=review_url(each.change.post, layer),
            count=each.count,
            risk=each.weight,
            risk_word=risk_word(each.weight),
            type=type_label(each.change.post.type),
            who=_who(each),
            of=each,
        )
        for each in waiting.get(layer, ())
    ]


def _who(waiting: WaitingPost) -> str:
    change = waiting.change
    return agent_name(change.agent_id) if change.agent_id else change.author_name


def _recent() -> list[Recent]:
    posts = with_proposed_titles(Post.objects.alive()).select_related("featured_media")
    return [
        Recent(
            post,
            title_of(post),
            type_label(post.type),
            media_view(post.featured_media).url if post.featured_media else "",
            age_of(post.updated_at),
        )
        for post in posts.order_by("-updated_at")[:_SHOWN]
    ]


def _feedback() -> list[Feedback]:
    return list(
        open_feedback().select_related("post", "author").order_by("-created_at", "-pk")[:_FEW]
    )


def _calls(failed: int) -> dict[str, Any]:
    """Calls to other systems that failed in the last day, and webhooks that were switched off for it."""
    return {
        "failed_deliveries": failed_since(timezone.now() - LATELY)[:_SHOWN] if failed else [],
        "failed_delivery_count": failed,
        "off_webhooks": list(switched_off()[:_SHOWN]),
    }


def _budgets() -> list[tuple[str, BudgetNotice]]:
    """Budgets that are used up, or nearly."""
    found = told_now(today())[:_SHOWN]
    together = _("All agents together")
    return [
        (together if item.agent_id == ALL_AGENTS_KEY else agent_name(item.agent_id), item)
        for item in found
    ]


def _failed() -> list[tuple[str, AgentRun]]:
    rows = broken_runs().select_related("post").defer("context", "value").order_by("-created_at")
    return [(agent_name(run.agent_id), run) for run in rows[:_FEW]]
