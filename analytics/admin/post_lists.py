"""The pages under Insights that list experiments, and posts with heatmaps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Exists, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from analytics.admin.variations import ArmRow, arm_rows
from analytics.experiments.evaluation import Trial, evaluate_trials
from analytics.experiments.sentences import goal_label
from analytics.models import Dimension, PostCount
from analytics.periods import Period, today
from content.document.labels import type_label
from content.models import Post, Status
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http

EXPERIMENTS_PAGE: Final = 10
"""Few, because each experiment takes some statements to evaluate."""
HEATMAPS_PAGE: Final = 25
HEATMAP_DAYS: Final = 30
_TEXT_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """An experiment in the list. `arms`: its versions with shares and verdicts, the original first."""

    trial: Trial
    type: str
    url: str
    variants_url: str
    goal: str
    arms: list[ArmRow]


def list_originals_with_variants(actor: Actor) -> QuerySet[Post]:
    """Return the posts with variations the user may see: running experiments first, then by latest change."""
    variations = Post.objects.filter(variation_of=OuterRef("pk"))
    running = Exists(variations.filter(variation_running=True))
    rows = visible_to(Post.objects.alive(), actor).filter(Exists(variations))
    return rows.annotate(runs=running).order_by("-runs", "-updated_at", "pk")


@require_safe
@service_errors_as_http
def experiments(request: HttpRequest) -> HttpResponse:
    """Show the experiments of the site with their verdicts."""
    require(request, "posts.edit")
    originals = list_originals_with_variants(actor_of(request))
    found = Paginator(originals, EXPERIMENTS_PAGE).get_page(request.GET.get("page"))
    rows = [
        ExperimentRow(
            trial,
            type_label(trial.original.type),
            reverse("admin:analytics-variations", args=[trial.original.pk]),
            reverse("admin:content_post_variations", args=[trial.original.pk]),
            goal_label(trial.goal or ""),
            arm_rows(trial),
        )
        for trial in evaluate_trials(list(found))
    ]
    context: dict[str, Any] = {"found": found, "rows": rows}
    return _page(request, "admin/analytics/experiments.html", _("Experiments"), context)


@require_safe
@service_errors_as_http
def heatmaps(request: HttpRequest) -> HttpResponse:
    """Show published posts by recent views, with links to their heatmaps. `q` searches titles and paths."""
    require(request, "analytics.read")
    text = request.GET.get("q", "").strip()[:_TEXT_MAX]
    period = Period(today() - timedelta(days=HEATMAP_DAYS - 1), today())
    counts = PostCount.objects.filter(
        period.daily(), post_id=OuterRef("pk"), dimension=Dimension.TOTAL
    )
    views = counts.order_by().values("post_id").annotate(sum=Sum("views")).values("sum")
    rows = visible_to(Post.objects.alive(), actor_of(request)).filter(
        status=Status.PUBLISHED, variation_of=None
    )
    if text:
        rows = rows.filter(Q(title__icontains=text) | Q(path__icontains=text))
    rows = rows.annotate(seen=Coalesce(Subquery(views, IntegerField()), 0))
    found = Paginator(rows.order_by("-seen", "-updated_at", "pk"), HEATMAPS_PAGE)
    context: dict[str, Any] = {
        "found": found.get_page(request.GET.get("page")),
        "text": text,
        "days": HEATMAP_DAYS,
    }
    return _page(request, "admin/analytics/heatmaps.html", _("Heatmaps"), context)


def _page(request: HttpRequest, template: str, title: str, context: dict[str, Any]) -> HttpResponse:
    frame = {**admin.site.each_context(request), "title": title, **context}
    return TemplateResponse(request, template, frame)
