"""What the home page shows: what waits in AI Review and Review, runs and calls that failed, posts that changed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from agents_app.admin.wording import agent_name
from agents_app.budgets.limits import ALL, today
from agents_app.budgets.notices import told_now
from agents_app.models import AgentRun, BudgetNotice, RunStatus
from content.admin.inbox import entry, waiting
from content.models import Layer, Post
from core.admin.rights import may
from webhooks.queries import failed_since, switched_off

_SHOWN = 6
_TOGETHER = "All agents together"


def overview(request: HttpRequest) -> dict[str, Any]:
    """The lists that the user may see, each at most a handful. Twelve queries."""
    if not may(request, "posts.view"):
        return {}
    posts = Post.objects.alive().only("pk", "title", "status", "updated_at", "type")
    return {
        "ai_review": [entry(draft) for draft in waiting(Layer.AI_REVIEW)[:_SHOWN]],
        "ai_review_count": waiting(Layer.AI_REVIEW).count(),
        "review": [entry(draft) for draft in waiting(Layer.REVIEW)[:_SHOWN]],
        "review_count": waiting(Layer.REVIEW).count(),
        "recent_posts": posts.order_by("-updated_at")[:_SHOWN],
        "failed_runs": _failed() if may(request, "agents.view") else [],
        "budgets": _budgets() if may(request, "agents.edit") else [],
        "may_create": may(request, "posts.create"),
        **(_calls() if may(request, "webhooks.manage") else {}),
    }


def _calls() -> dict[str, Any]:
    """Calls to other systems that failed in the last day, and webhooks that were switched off for it."""
    failed = failed_since(timezone.now() - timedelta(days=1))
    return {
        "failed_deliveries": list(failed[:_SHOWN]),
        "failed_delivery_count": failed.count(),
        "off_webhooks": list(switched_off()[:_SHOWN]),
    }


def _budgets() -> list[tuple[str, BudgetNotice]]:
    """Budgets that are used up, or nearly."""
    found = told_now(today())[:_SHOWN]
    return [
        (_TOGETHER if item.agent_id == ALL else agent_name(item.agent_id), item) for item in found
    ]


def _failed() -> list[AgentRun]:
    failed = AgentRun.objects.filter(status__in=[RunStatus.FAILED, RunStatus.TIMED_OUT])
    return list(failed.select_related("post").defer("context", "value")[:_SHOWN])
