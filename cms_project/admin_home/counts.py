"""What waits for a person, as numbers that lead to it: each only for whoever may do something about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db.models import Count
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from agents_app.models import AgentRun, RunStatus
from content.admin.inbox.page import inbox_url
from content.models import Feedback, FeedbackStatus, Layer, Post, PostQuerySet, Status
from content.waiting.queries import queue
from core.admin.rights import may
from webhooks.queries import failed_since

LATELY: Final = timedelta(days=1)
BROKEN_RUNS: Final = (RunStatus.FAILED, RunStatus.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Tile:
    """A number. `tone` is quiet for none, else what it is about: ai, review, plain or problem."""

    label: str
    count: int
    url: str
    tone: str
    note: str = ""


def tiles(request: HttpRequest) -> list[Tile]:
    """At most six, with a query each, but for those of the layers."""
    waiting: Counter[str] = Counter()
    for row in queue().order_by().values("layer").annotate(count=Count("pk")):
        waiting[row["layer"]] = row["count"]
    found = [
        _tile("AI Review", waiting[Layer.AI_REVIEW], inbox_url(layer=Layer.AI_REVIEW), "ai"),
        _tile("Review", waiting[Layer.REVIEW], inbox_url(layer=Layer.REVIEW), "review"),
    ]
    if may(request, "feedback.view"):
        open_ = Feedback.objects.filter(
            status=FeedbackStatus.PENDING, post__deleted_at__isnull=True
        ).count()
        address = reverse("admin:content_feedback_changelist") + "?status__exact=pending"
        found.append(_tile(_("Open feedback"), open_, address, "plain"))
    if may(request, "posts.publish"):
        address = reverse("admin:content_post_changelist")
        found.append(_tile(pgettext("posts", "Scheduled"), scheduled().count(), address, "plain"))
    note = _("in the last 24 hours")
    if may(request, "agents.view"):
        broken = AgentRun.objects.filter(
            status__in=BROKEN_RUNS, created_at__gte=timezone.now() - LATELY
        ).count()
        address = reverse("admin:agents_app_agentrun_changelist")
        found.append(_tile(_("Failed runs"), broken, address, "problem", note))
    if may(request, "webhooks.manage"):
        calls = failed_since(timezone.now() - LATELY).count()
        address = reverse("admin:webhooks_delivery_changelist") + "?status__exact=failed"
        found.append(_tile(_("Failed deliveries"), calls, address, "problem", note))
    return found


def _tile(label: str, count: int, url: str, tone: str, note: str = "") -> Tile:
    return Tile(label, count, url, tone if count else "none", note)


def scheduled() -> PostQuerySet:
    """Drafts that will be published by themselves, the next first."""
    due = Post.objects.alive().filter(status=Status.DRAFT, publish_at__isnull=False)
    return due.order_by("publish_at", "pk")
