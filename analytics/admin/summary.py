"""The page of figures: how much was looked at, when, where from, and on what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.translation import gettext as _

from analytics.admin import charts
from analytics.admin.summary_filter import SPANS, SummaryFilter, read_asked
from analytics.models import SiteCount
from analytics.rollups import reports, summaries
from analytics.rollups.report_types import Summary
from proofroom.core.admin.charts import HEIGHT
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import PermittedAdmin, require
from proofroom.core.csv_export import header_line, line

_PERMISSION: Final = "analytics.view"
_PAGE: Final = "analytics_sitecount_changelist"


@admin.register(SiteCount)
class SiteCountAdmin(PermittedAdmin[SiteCount]):
    """One page instead of a list of rows that nobody reads one by one."""

    view_permission = _PERMISSION

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, _PERMISSION)
        asked = read_asked(request.GET)
        post_id = asked.post.pk if asked.post else None
        found = reports.summary(asked.period, post_id)
        context = {"asked": asked, "spans": SPANS.items(), **_drawn(found, asked)}
        page = form_page(
            request, "admin/analytics/summary.html", SiteCount, context, title=_("Analytics")
        )
        if asked.problems:
            page.status_code = 422
        return page

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """The days or the posts of the same summary, as CSV. What is odd is said on the page instead."""
        require(request, _PERMISSION)
        asked = read_asked(request.GET)
        if asked.problems:
            return self.changelist_view(request)
        found = reports.summary(asked.period, asked.post.pk if asked.post else None)
        what = "posts" if request.GET.get("of") == "posts" else "days"
        lines = _posts(found) if what == "posts" else _days(found)
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        name = f"{what}-{asked.period.first}-{asked.period.last}.csv"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    def get_urls(self) -> list[URLPattern]:
        listed = [url for url in super().get_urls() if url.name == _PAGE]
        export = path("export/", self.admin_site.admin_view(self.export), name="analytics-export")
        return [*listed, export]


def _drawn(found: Summary, asked: SummaryFilter) -> dict[str, Any]:
    before = summaries.over_time(asked.period.before(), asked.post.pk if asked.post else None)
    stretches = charts.chart_periods(found, before)
    is_empty = not (found.totals.views or found.totals.clicks or found.totals.conversions)
    return {
        "summary": found,
        "totals": charts.totals(found),
        "before": asked.period.before(),
        "step": charts.step_of(found),
        "stretches": stretches,
        "charts": [charts.draw_chart("views", stretches), charts.draw_chart("clicks", stretches)],
        "height": HEIGHT,
        "posts": charts.post_bars(found.top_posts, found.totals.views),
        "referrers": charts.referrer_bars(found.referrers, found.totals.views),
        "locales": charts.share_bars(found.locales),
        "devices": charts.share_bars(found.devices),
        "is_empty": is_empty,
        "is_ever_counted": not is_empty or SiteCount.objects.exists(),
        "is_tracking": settings.CMS_ENV.analytics_tracking,
        "asks_consent": settings.CMS_ENV.analytics_consent,
    }


def _days(found: Summary) -> Iterator[str]:
    yield header_line(["month" if found.is_monthly else "date", "views", "clicks", "goals"])
    for item in found.over_time:
        yield line([item.date.isoformat(), item.views, item.clicks, item.conversions])


def _posts(found: Summary) -> Iterator[str]:
    yield header_line(["postId", "title", "path", "views", "clicks", "goals"])
    for post in found.top_posts:
        named = [str(post.post_id), post.title, post.path]
        yield line([*named, post.views, post.clicks, post.conversions])
