"""The analytics page: views and clicks, over time, by post, referrer, language and device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.admin import charts
from analytics.models import SiteCount
from analytics.periods import Period, read_period, today
from analytics.rollups.summaries import over_time, summarize
from content.models import Post
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.admin.charts import HEIGHT
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import PermittedAdmin, actor_of, require
from proofroom.core.csv_export import header_line, line
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json

_PERMISSION: Final = "analytics.read"
_PAGE: Final = "analytics_sitecount_changelist"
SPANS: Final = {
    "7": gettext_lazy("7 days"),
    "30": gettext_lazy("30 days"),
    "90": gettext_lazy("90 days"),
    "month": gettext_lazy("This month"),
    "last-month": gettext_lazy("Last month"),
}
DEFAULT_SPAN: Final = "30"
_MAX_FOUND: Final = 10
_TEXT_MAX: Final = 200
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SummaryFilter:
    """The filter of the summary. `span` is empty for custom dates. `problems`: errors by field."""

    period: Period
    span: str
    post: Post | None = None
    text: str = ""
    found: list[Post] = field(default_factory=list)
    """Matches of the search, unless there is exactly one."""
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def of_days(self) -> str:
        """The query string of these days."""
        if self.span:
            return urlencode({"span": self.span})
        return urlencode({"from": self.period.first, "to": self.period.last})

    @property
    def of_post(self) -> str:
        return f"&postId={self.post.pk}" if self.post else ""

    @property
    def query(self) -> str:
        return f"{self.of_days}{self.of_post}"


def read_summary_filter(params: Mapping[str, str], actor: Actor) -> SummaryFilter:
    """Read the days and the post. At most two statements.

    Invalid values are reported in `problems` and replaced by the default.
    """
    problems: dict[str, str] = {}
    period, span = _read_days(params, problems)
    text = params.get("post", "").strip()[:_TEXT_MAX]
    post, found = None, list[Post]()
    try:
        post_id = UUID(params.get("postId", "") or text)
    except ValueError:
        pass
    else:
        post = visible_to(Post.objects.kept().filter(pk=post_id), actor).first()
        if post is None:
            problems["post"] = _("Post not found.")
    if post is None and text:
        matches = Q(title__icontains=text) | Q(path__icontains=text)
        rows = visible_to(Post.objects.alive().filter(matches), actor)
        found = list(rows.order_by("-updated_at")[:_MAX_FOUND])
    if len(found) == 1:
        post, found = found[0], []
    elif text and not found and post is None:
        problems["post"] = _("No post matches this title or address.")
    return SummaryFilter(period, span, post, "" if post else text, found, problems)


def _read_days(params: Mapping[str, str], problems: dict[str, str]) -> tuple[Period, str]:
    own = {name: params[name] for name in ("from", "to") if params.get(name)}
    if own:
        try:
            return read_period(own), ""
        except RuleViolation as error:
            problems.update({name: " ".join(texts) for name, texts in error.details.items()})
    span = params.get("span", DEFAULT_SPAN)
    if span not in SPANS:
        span = DEFAULT_SPAN
    last_day = today()
    month = last_day.replace(day=1)
    if span == "month":
        return Period(month, last_day), span
    if span == "last-month":
        last = month - _DAY
        return Period(last.replace(day=1), last), span
    return Period(last_day - (int(span) - 1) * _DAY, last_day), span


@admin.register(SiteCount)
class SiteCountAdmin(PermittedAdmin[SiteCount]):
    """One page instead of a list of rows, because single rows are of no interest."""

    view_permission = _PERMISSION

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, _PERMISSION)
        actor = actor_of(request)
        summary_filter = read_summary_filter(request.GET, actor)
        post_id = summary_filter.post.pk if summary_filter.post else None
        summary = summarize(summary_filter.period, post_id, actor)
        before = summary_filter.period.before()
        periods = charts.chart_periods(summary, over_time(before, post_id, actor))
        is_empty = not (summary.totals.views or summary.totals.clicks or summary.totals.conversions)
        context = {
            "asked": summary_filter,
            "spans": SPANS.items(),
            "summary": summary,
            "totals": charts.totals(summary),
            "before": before,
            "step": charts.step_of(summary),
            "charts": [charts.draw_chart("views", periods), charts.draw_chart("clicks", periods)],
            "height": HEIGHT,
            "posts": charts.post_bars(summary.top_posts, summary.totals.views),
            "referrers": charts.referrer_bars(summary.referrers, summary.totals.views),
            "locales": charts.share_bars(summary.locales),
            "devices": charts.share_bars(summary.devices),
            "is_empty": is_empty,
            "is_ever_counted": not is_empty or SiteCount.objects.exists(),
            "is_tracking": settings.CMS_ENV.analytics_tracking,
            "asks_consent": settings.CMS_ENV.analytics_consent,
        }
        page = form_page(
            request, "admin/analytics/summary.html", SiteCount, context, title=_("Analytics")
        )
        if summary_filter.problems:
            page.status_code = 422
        return page

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """Export the days or the posts of the same summary as CSV. Errors are shown on the page instead."""
        require(request, _PERMISSION)
        actor = actor_of(request)
        summary_filter = read_summary_filter(request.GET, actor)
        if summary_filter.problems:
            return self.changelist_view(request)
        summary = summarize(
            summary_filter.period, summary_filter.post.pk if summary_filter.post else None, actor
        )
        rows: list[tuple[Json, ...]]
        if request.GET.get("of") == "posts":
            what, header = "posts", ["postId", "title", "path", "views", "clicks", "goals"]
            rows = [
                (
                    str(post.post_id),
                    post.title,
                    post.path,
                    post.views,
                    post.clicks,
                    post.conversions,
                )
                for post in summary.top_posts
            ]
        else:
            what = "days"
            header = ["month" if summary.is_monthly else "date", "views", "clicks", "goals"]
            rows = [
                (item.date.isoformat(), item.views, item.clicks, item.conversions)
                for item in summary.over_time
            ]
        lines = [header_line(header), *map(line, rows)]
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        name = f"{what}-{summary_filter.period.first}-{summary_filter.period.last}.csv"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    def get_urls(self) -> list[URLPattern]:
        listed = [url for url in super().get_urls() if url.name == _PAGE]
        export = path("export/", self.admin_site.admin_view(self.export), name="analytics-export")
        return [*listed, export]
