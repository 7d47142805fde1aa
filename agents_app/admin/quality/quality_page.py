"""The page *Quality*: the figures of each agent and AI client, and the decided changes behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from agents_app.admin.quality.labels import (
    ShareLabel,
    acceptance_label,
    distance_label,
    field_title,
    heeded_label,
    minutes_label,
    money_label,
)
from agents_app.quality.decisions import Decision, DecisionOutcome, Subject
from agents_app.quality.figures import (
    QualityFigures,
    QualityFilter,
    QualityPeriod,
    Tallied,
    list_decisions,
    measure_quality,
    read_period,
)
from agents_app.quality.names import post_titles, subject_names
from proofroom.core.actor import Actor
from proofroom.core.admin.charts import HEIGHT, Upright, upright
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import RuleViolation
from proofroom_apps.editorial.posts.post_pages import post_urls

PERMISSION: Final = "quality.view"
_CHANGES_PER_PAGE: Final = 50
_TEXT_MAX: Final = 200
_MAX_NAMED: Final = 6
_MIN_PLACES: Final = 8
OUTCOME_LABELS: Final[Mapping[str, Promise]] = {
    DecisionOutcome.ACCEPTED: gettext_lazy("Accepted"),
    DecisionOutcome.EDITED: gettext_lazy("Accepted with edits"),
    DecisionOutcome.REJECTED: gettext_lazy("Rejected"),
}
_LOOKS: Final = {
    DecisionOutcome.ACCEPTED: "succeeded",
    DecisionOutcome.EDITED: "edited",
    DecisionOutcome.REJECTED: "failed",
}


@dataclass(frozen=True, slots=True)
class QualityQuery:
    """The query of the page. `problem`: why its days were replaced by the default."""

    period: QualityPeriod
    only: QualityFilter
    problem: str = ""

    def url(self, name: str = "quality", **values: object) -> str:
        """Return the address of a page with the same days and these values."""
        days = {"from": self.period.first, "to": self.period.last}
        given = {key: value for key, value in values.items() if value}
        return f"{reverse(f'admin:{name}')}?{urlencode({**days, **given})}"


def read_query(request: HttpRequest) -> QualityQuery:
    params, problem = request.GET, ""
    days: dict[str, date | None] = {}
    for name in ("from", "to", "week"):
        text = params.get(name, "")
        try:
            days[name] = date.fromisoformat(text) if text else None
        except ValueError:
            days[name], problem = None, _("Enter a valid date.")
    try:
        period = read_period(days["from"], days["to"])
    except RuleViolation as error:
        period, problem = read_period(None, None), error.details["from"][0]
    outcome = params.get("outcome", "")
    only = QualityFilter(
        agent=params.get("agent", "")[:_TEXT_MAX],
        client=params.get("client", "")[:_TEXT_MAX],
        field=params.get("field", "")[:_TEXT_MAX],
        week=days["week"],
        outcome=outcome if outcome in OUTCOME_LABELS else "",
    )
    return QualityQuery(period, only, problem)


@dataclass(frozen=True, slots=True)
class TallyRow:
    """A line of a table: a field, a week, or a version."""

    name: str
    tally: Tallied
    acceptance: ShareLabel
    distance: str
    url: str


@dataclass(frozen=True, slots=True)
class WeekColumn:
    """A week in the chart of the acceptance; without a decision it has no column."""

    week: date
    tally: Tallied
    acceptance: str
    drawn: Upright
    is_named: bool
    url: str


@dataclass(frozen=True, slots=True)
class SubjectRow:
    """An agent or AI client on the page."""

    figures: QualityFigures
    name: str
    is_agent: bool
    acceptance: ShareLabel
    distance: str
    cost: str
    minutes: str
    waited: str
    heeded: ShareLabel
    url: str
    changes_url: str
    agent_url: str


@require_safe
@service_errors_as_http
def quality(request: HttpRequest) -> HttpResponse:
    """Show the figures of all agents and AI clients, or of one with its fields, weeks and notes."""
    require(request, PERMISSION)
    query = read_query(request)
    found = measure_quality(period=query.period, actor=actor_of(request), only=query.only)
    names = subject_names([row.subject for row in found.rows], actor_of(request))
    rows = [subject_row(request, row, names[row.subject], query) for row in found.rows]
    is_one = bool(query.only.agent or query.only.client)
    one = rows[0] if is_one and rows else None
    context = {
        "query": query,
        "rows": rows,
        "is_one": is_one,
        "is_complete": found.is_complete,
        "one": one,
        **(_details(one, query) if one is not None else {}),
    }
    title = one.name if one is not None else _("Quality")
    return _page(request, "admin/quality/quality.html", title, context, query)


@require_safe
@service_errors_as_http
def quality_changes(request: HttpRequest) -> HttpResponse:
    """List the decided changes behind the figures."""
    require(request, PERMISSION)
    query = read_query(request)
    found = list_decisions(period=query.period, actor=actor_of(request), only=query.only)
    page = Paginator(found.rows, _CHANGES_PER_PAGE).get_page(request.GET.get("page"))
    names = subject_names([row.subject for row in page], actor_of(request))
    titles = post_titles({row.post_id for row in page})
    context = {
        "query": query,
        "found": page,
        "is_complete": found.is_complete,
        "lines": [_change_line(row, names, titles) for row in page],
        "outcomes": OUTCOME_LABELS.items(),
        "limits": _limits(query.only, actor_of(request)),
        "all_url": query.url("quality-changes"),
    }
    return _page(request, "admin/quality/changes.html", _("Decided changes"), context, query)


def subject_row(
    request: HttpRequest, row: QualityFigures, name: str, query: QualityQuery
) -> SubjectRow:
    kind, id_ = row.subject
    is_agent = kind == "agent"
    agent_url = ""
    if is_agent and may(request, "agents.view"):
        agent_url = reverse("admin:agents_app_agentswitch_change", args=[id_])
    return SubjectRow(
        figures=row,
        name=name,
        is_agent=is_agent,
        acceptance=acceptance_label(row.total),
        distance=distance_label(row.total.distance),
        cost=money_label(row),
        minutes=minutes_label(row.minutes_per_accepted),
        waited=minutes_label(row.waited),
        heeded=heeded_label(row.heeded),
        url=query.url(**{kind: id_}),
        changes_url=query.url("quality-changes", **{kind: id_}),
        agent_url=agent_url,
    )


def _details(row: SubjectRow, query: QualityQuery) -> dict[str, Any]:
    kind, id_ = row.figures.subject
    fields = sorted(row.figures.fields.items(), key=lambda item: (-item[1].decided, item[0]))
    parts = ((_("Champion"), row.figures.champion), (_("Challenger"), row.figures.challenger))
    return {
        "fields": [
            _tally_row(
                field_title(name), one, query.url("quality-changes", **{kind: id_, "field": name})
            )
            for name, one in fields
        ],
        "parts": [_tally_row(name, one, "") for name, one in parts if one is not None],
        "chart": _columns(row, query),
        "height": HEIGHT,
    }


def _tally_row(name: str, found: Tallied, url: str) -> TallyRow:
    return TallyRow(name, found, acceptance_label(found), distance_label(found.distance), url)


def _columns(row: SubjectRow, query: QualityQuery) -> list[WeekColumn]:
    kind, id_ = row.figures.subject
    weeks = list(row.figures.weeks.items())
    # Few weeks have narrow columns at the right, beside the labels of the scale.
    places = max(len(weeks), _MIN_PLACES)
    every = -(-len(weeks) // _MAX_NAMED)
    return [
        WeekColumn(
            week=week,
            tally=found,
            acceptance=acceptance_label(found).share,
            drawn=upright(places - len(weeks) + place, places, 100 * (found.acceptance or 0), 100),
            is_named=place % every == every // 2,
            url=query.url("quality-changes", **{kind: id_, "week": week}),
        )
        for place, (week, found) in enumerate(weeks)
    ]


def _limits(only: QualityFilter, actor: Actor) -> list[str]:
    """Return what the list is limited to besides its form, as labels."""
    subjects = [Subject("agent", only.agent)] if only.agent else []
    if only.client:
        subjects.append(Subject("client", only.client))
    names = subject_names(subjects, actor) if subjects else {}
    limits = [names[one] for one in subjects]
    if only.field:
        limits.append(field_title(only.field))
    if only.week is not None:
        limits.append(_("week from %(day)s") % {"day": date_format(only.week, "SHORT_DATE_FORMAT")})
    return limits


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A decided change in the list."""

    decision: Decision
    field: str
    name: str
    title: str
    post_url: str
    run_url: str
    outcome: str
    look: str
    distance: str


def _change_line(
    row: Decision, names: Mapping[Subject, str], titles: Mapping[UUID, str]
) -> ChangeLine:
    title = titles.get(row.post_id, "")
    return ChangeLine(
        decision=row,
        field=field_title(row.field),
        name=names[row.subject],
        title=title or _("(deleted)"),
        post_url=post_urls("change")(row.post_id) if title else "",
        run_url=reverse("admin:agents_app_agentrun_change", args=[row.run_id])
        if row.run_id and row.subject.kind == "agent"
        else "",
        outcome=str(OUTCOME_LABELS[row.outcome]),
        look=_LOOKS[row.outcome],
        distance=distance_label(row.distance) if row.outcome == DecisionOutcome.EDITED else "",
    )


def _page(
    request: HttpRequest, template: str, title: str, context: dict[str, Any], query: QualityQuery
) -> HttpResponse:
    frame = {**admin.site.each_context(request), "title": title, **context}
    return TemplateResponse(request, template, frame, status=422 if query.problem else 200)
