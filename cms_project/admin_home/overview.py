"""What the home page shows: what waits in AI Review and Review, runs that failed, posts that changed."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from agents_app.models import AgentRun, RunStatus
from content.admin.inbox import entry, waiting
from content.models import Layer, Post
from core.admin.rights import may

_SHOWN = 6


def overview(request: HttpRequest) -> dict[str, Any]:
    """The lists that the user may see, each at most a handful. Eight queries."""
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
        "may_create": may(request, "posts.create"),
    }


def _failed() -> list[AgentRun]:
    failed = AgentRun.objects.filter(status__in=[RunStatus.FAILED, RunStatus.TIMED_OUT])
    return list(failed.select_related("post").defer("context", "value")[:_SHOWN])
