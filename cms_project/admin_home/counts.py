"""What waits for a person, as numbers that lead to it: each only for whoever may do something about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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

from agents_app.models import AgentRun, RunStatus
from content.inbox.queries import queue
from content.models import Feedback, FeedbackStatus, Layer, Post, PostQuerySet, Status
from proofroom.core.admin.permissions import may
from proofroom.editorial.inbox.page import inbox_url
from proofroom.webhooks.queries import failed_since

LATELY: Final = timedelta(days=1)
BROKEN_RUNS: Final = (RunStatus.FAILED, RunStatus.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class CountTile:
    """A number. `tone` is quiet for none, else what it is about: ai, review, plain or problem."""

    label: str
    count: int
    url: str
    tone: str
    note: str = ""


def counted(request: HttpRequest) -> Counter[str]:
    """How much there is of what the user may do something about, by name. One query."""
    parts: dict[str, QuerySet[Any]] = {layer: queue().filter(layer=layer) for layer in Layer}
    if may(request, "feedback.view"):
        parts["feedback"] = open_feedback()
    if may(request, "posts.publish"):
        parts["scheduled"] = scheduled()
    if may(request, "agents.view"):
        parts["runs"] = broken_runs()
    if may(request, "webhooks.manage"):
        parts["deliveries"] = failed_since(timezone.now() - LATELY)
    first, *more = [
        rows.order_by()
        .annotate(what=Value(name, output_field=CharField()))
        .values_list("what")
        .annotate(number=Count("pk"))
        for name, rows in parts.items()
    ]
    return Counter(dict(first.union(*more, all=True)))


def tiles(request: HttpRequest, counts: Counter[str]) -> list[CountTile]:
    """At most six."""
    found = [
        _tile("AI Review", counts[Layer.AI_REVIEW], inbox_url(layer=Layer.AI_REVIEW), "ai"),
        _tile("Review", counts[Layer.REVIEW], inbox_url(layer=Layer.REVIEW), "review"),
    ]
    if may(request, "feedback.view"):
        address = _list("content_feedback", {"status__exact": FeedbackStatus.PENDING.value})
        found.append(_tile(_("Open feedback"), counts["feedback"], address, "plain"))
    if may(request, "posts.publish"):
        asked = {"status__exact": Status.DRAFT.value, "publish_at__isnull": "False"}
        address = _list("content_post", asked)
        found.append(_tile(pgettext("posts", "Scheduled"), counts["scheduled"], address, "plain"))
    note, since = _("in the last 24 hours"), (timezone.now() - LATELY).isoformat(timespec="seconds")
    if may(request, "agents.view"):
        asked = {"status__in": ",".join(BROKEN_RUNS), "created_at__gte": since}
        address = _list("agents_app_agentrun", asked)
        found.append(_tile(_("Failed runs"), counts["runs"], address, "problem", note))
    if may(request, "webhooks.manage"):
        asked = {"status__exact": "failed", "finished_at__gte": since}
        address = _list("webhooks_delivery", asked)
        number = counts["deliveries"]
        found.append(_tile(_("Failed deliveries"), number, address, "problem", note))
    return found


def _list(name: str, asked: Mapping[str, str]) -> str:
    """The list of what a tile counts, and of nothing else."""
    return f"{reverse(f'admin:{name}_changelist')}?{urlencode(asked)}"


def _tile(label: str, count: int, url: str, tone: str, note: str = "") -> CountTile:
    return CountTile(label, count, url, tone if count else "none", note)


def scheduled() -> PostQuerySet:
    """Drafts that will be published by themselves, the next first."""
    due = Post.objects.alive().filter(status=Status.DRAFT, publish_at__isnull=False)
    return due.order_by("publish_at", "pk")


def open_feedback() -> QuerySet[Feedback]:
    return Feedback.objects.filter(status=FeedbackStatus.PENDING, post__deleted_at__isnull=True)


def broken_runs() -> QuerySet[AgentRun]:
    """Runs of the last day that failed."""
    since = timezone.now() - LATELY
    return AgentRun.objects.filter(status__in=BROKEN_RUNS, created_at__gte=since)
