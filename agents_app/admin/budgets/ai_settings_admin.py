"""The page of AI settings: providers and their connection tests, usage, and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents_app.admin.budgets.forms import BudgetForm, DefaultsForm, show_refusal
from agents_app.admin.labels import agent_name
from agents_app.ai_settings import (
    Provider,
    ai_settings,
    is_lost,
    providers,
    request_connection_test,
    update_ai_settings,
)
from agents_app.budgets import usage
from agents_app.budgets.limits import (
    ALL_AGENTS_KEY,
    UNITS,
    Amount,
    BudgetLimits,
    Unit,
    end_of,
    period_start,
    set_budgets,
    short_text,
    today,
)
from agents_app.budgets.usage import BudgetUsage, BudgetView
from agents_app.models import AiSettings, CheckOutcome, ProviderCheck
from agents_app.providers.interface import DEMO_PROVIDER
from agents_app.providers.outages import paused_providers
from agents_app.providers.prices import price_list
from proofroom.core.admin.charts import HEIGHT, Upright, part, upright
from proofroom.core.admin.form_pages import form_page, service_errors_at_fields
from proofroom.core.admin.permissions import (
    PermittedAdmin,
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import RuleViolation

_PERMISSION: Final = "agents.edit"
_PAGE: Final = "admin:agents_app_aisettings_changelist"


@admin.register(AiSettings)
class AiSettingsAdmin(PermittedAdmin[AiSettings]):
    """One page instead of a list, because the model has at most one row."""

    view_permission = _PERMISSION

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, _PERMISSION)
        row, now = ai_settings(), today()
        found, views = providers(row), usage.budgets(now)
        sent = request.POST if request.method == "POST" else None
        defaults = DefaultsForm(sent if sent and "defaults" in sent else None, row, found)
        budgets = [BudgetForm(sent if sent and "budgets" in sent else None, view) for view in views]
        # Keep the selected month and unit after saving.
        query = request.GET.urlencode()
        suffix = f"?{query}" if query else ""
        if (defaults.is_bound and save_defaults(request, defaults)) or (
            budgets[0].is_bound and save_budgets(request, budgets)
        ):
            return HttpResponseRedirect(f"{reverse(_PAGE)}{suffix}")
        tested = connections(found)
        context = {
            "connections": tested,
            "is_testing": any(one.tested and one.tested.is_waiting for one in tested),
            "defaults": defaults,
            "budgets": budgets,
            "headings": [cell.label for cell in budgets[0].cells],
            "is_demo": all(item.id == DEMO_PROVIDER for item in found if item.is_default),
            "prices_date": price_list().date,
            "known_models": known_models(found),
            "refused": any(item.is_bound and item.errors for item in budgets),
            **usage_context(request, views, now),
        }
        page = form_page(request, "admin/agents/money.html", AiSettings, context, title=_TITLE)
        if context["refused"] or (defaults.is_bound and defaults.errors):
            page.status_code = 422
        return page

    def get_urls(self) -> list[URLPattern]:
        name = "agents_app_aisettings_changelist"
        tests = path(
            "test/<slug:provider>/",
            self.admin_site.admin_view(test),
            name="agents_app_provider_test",
        )
        return [tests, *(url for url in super().get_urls() if url.name == name)]


_TITLE: Final = gettext_lazy("AI settings")


def known_models(found: Sequence[Provider]) -> list[tuple[str, list[str]]]:
    """Return the priced models by kind, of usable providers. The form accepts other names too."""
    prices = price_list()
    usable = {(item.kind, item.id) for item in found if item.is_configured}
    texts = {name for id_, rows in prices.text.items() if ("text", id_) in usable for name in rows}
    images = {
        name for id_, rows in prices.images.items() if ("media", id_) in usable for name in rows
    }
    return [("text", sorted(texts)), ("media", sorted(images))]


def save_defaults(request: HttpRequest, form: DefaultsForm) -> bool:
    if not form.is_valid():
        return False
    with service_errors_at_fields(form):
        update_ai_settings(actor=actor_of(request), **form.changes())
    if form.errors:
        return False
    messages.success(request, _("Saved AI settings."))
    return True


def save_budgets(request: HttpRequest, rows: list[BudgetForm]) -> bool:
    """Save all rows, or none if one is invalid."""
    valid = [row.is_valid() for row in rows]
    if not all(valid):
        return False
    changes = {row.wire_name: row.changes() for row in rows if row.has_changed()}
    try:
        set_budgets(changes=changes, actor=actor_of(request))
    except RuleViolation as error:
        show_refusal(rows, error)
        return False
    messages.success(request, _("Saved budgets.") if changes else _("No changes to save."))
    return True


def usage_context(request: HttpRequest, views: list[BudgetView], now: date) -> dict[str, Any]:
    # An invalid or missing `month` selects the current month.
    text = request.GET.get("month", "")
    try:
        day = date.fromisoformat(f"{text}-01") if len(text) == len("2030-01") else now
    except ValueError:
        day = now
    month = period_start("month", min(day, now) if day.year >= 2000 else now)
    last = end_of("month", month) - timedelta(days=1)
    found = usage.usage(month, last)
    # Show costs if there are any, unless the request selects tokens.
    unit: Unit = "cost" if found.total.cost or not found.total.tokens else "tokens"
    unit = next((name for name in UNITS if name == request.GET.get("unit", "")), unit)
    is_now = month == period_start("month", now)
    before = period_start("month", month - timedelta(days=1))
    return {
        "month": month,
        "before": before,
        "after": None if is_now else end_of("month", month),
        "usage": found,
        "unit": unit,
        "chart": columns(found, unit, now),
        "height": HEIGHT,
        "bars": bars(found, unit, views, is_now=is_now),
        "today": views[0].today,
    }


_PROBLEMS: Final[Mapping[str, Promise]] = {
    CheckOutcome.KEY_REFUSED: gettext_lazy(
        "The provider rejected the API key (%(status)s). Set a valid key in "
        "%(variable)s and restart."
    ),
    CheckOutcome.QUOTA: gettext_lazy(
        "The provider is not accepting requests (%(status)s): you may be out of "
        "credit or over a rate limit. Check your account with the provider."
    ),
    CheckOutcome.UNREACHABLE: gettext_lazy(
        "Could not reach the address. Check the address and this server’s outgoing connections."
    ),
    CheckOutcome.SILENT: gettext_lazy(
        "No response within 10 seconds. Check the address, or test again."
    ),
    CheckOutcome.NO_LIST: gettext_lazy(
        "The server has no list of models at this address (%(status)s). Check the address."
    ),
    CheckOutcome.FAILED: gettext_lazy(
        "The provider returned an error (%(status)s). Test again later."
    ),
    CheckOutcome.UNREADABLE: gettext_lazy(
        "The response is not a list of models. Check the address."
    ),
    CheckOutcome.UNUSABLE: gettext_lazy(
        "The API key or address contains invalid characters. Check %(variable)s "
        "for spaces and line breaks."
    ),
}


@dataclass(frozen=True, slots=True)
class ProviderCheckResult:
    """The result of the last test. `is_waiting`: no worker has run it yet."""

    said: str
    look: str
    at: datetime | None
    is_waiting: bool = False


@dataclass(frozen=True, slots=True)
class ProviderConnectionRow:
    """A provider on the page. Only its first row has a test button, even if it serves both kinds.

    `paused_until`: runs with a fallback skip it until then, after an outage.
    """

    provider: Provider
    can_be_tested: bool
    tested: ProviderCheckResult | None
    paused_until: datetime | None = None


def connections(found: Sequence[Provider]) -> list[ProviderConnectionRow]:
    """Return the providers with the results of their tests and their pauses. Two queries."""
    paused = paused_providers()
    checks = ProviderCheck.objects.in_bulk([item.id for item in found if item.source])
    rows: list[ProviderConnectionRow] = []
    for item in found:
        # A provider of text and images has one key, so one test covers both.
        is_first = item.id not in {one.provider.id for one in rows}
        can_be_tested = is_first and bool(item.source) and item.is_configured
        row = checks.get(item.id) if can_be_tested else None
        tested = describe_check(row, item) if row is not None and row.asked_at is not None else None
        until = paused.get(item.id) if item.kind == "text" else None
        rows.append(ProviderConnectionRow(item, can_be_tested, tested, until))
    return rows


@require_POST
@service_errors_as_http
def test(request: HttpRequest, provider: str) -> HttpResponse:
    """Request a connection test. The page shows the result."""
    require(request, "agents.edit")
    with service_errors_as_messages(request):
        request_connection_test(provider=provider, actor=actor_of(request))
    return HttpResponseRedirect(f"{reverse('admin:agents_app_aisettings_changelist')}#providers")


def describe_check(row: ProviderCheck, item: Provider) -> ProviderCheckResult:
    if is_lost(row):
        message = _("The test did not finish. Check that a worker is running, then test again.")
        return ProviderCheckResult(message, "problem", row.asked_at)
    if row.checked_at is None:
        return ProviderCheckResult(_("Testing…"), "waiting", row.asked_at, is_waiting=True)
    if row.outcome == CheckOutcome.WORKS:
        message = ngettext(
            "Connection works. %(n)d model is available.",
            "Connection works. %(n)d models are available.",
            row.models_listed,
        ) % {"n": row.models_listed}
        if row.lacks:
            names = ", ".join(map(str, row.lacks))
            lacking = _(
                "Not offered by the provider: %(names)s. Runs may fail, so choose another model."
            )
            message = f"{message} {lacking % {'names': names}}"
        return ProviderCheckResult(message, "careful" if row.lacks else "works", row.checked_at)
    problem = str(_PROBLEMS.get(row.outcome, row.outcome))
    values = {"status": row.status, "variable": item.source}
    return ProviderCheckResult(problem % values, "problem", row.checked_at)


_AXIS_EVERY: Final = 7


@dataclass(frozen=True, slots=True)
class UsageColumn:
    """The usage of one day."""

    day: date
    text: str
    drawn: Upright
    is_today: bool
    is_named: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """The days of a month."""

    columns: Sequence[UsageColumn]
    peak: str
    peak_day: date | None
    days: Sequence[tuple[date, Amount]]


def columns(found: BudgetUsage, unit: Unit, today: date) -> Columns:
    """Return a column for each day of the range, scaled to the highest."""
    by_day = found.by_day()
    count = (found.last - found.first).days + 1
    days = [
        (day, by_day.get(day, Amount()))
        for day in (found.first + timedelta(days=number) for number in range(count))
    ]
    top_day, top = max(days, key=lambda item: item[1].of(unit))
    return Columns(
        [
            UsageColumn(
                day=day,
                text=short_text(amount.of(unit), unit),
                drawn=upright(number, count, float(amount.of(unit)), float(top.of(unit))),
                is_today=day == today,
                is_named=number % _AXIS_EVERY == 0,
            )
            for number, (day, amount) in enumerate(days)
        ],
        short_text(top.of(unit), unit),
        top_day if top.of(unit) else None,
        [item for item in days if item[1] != Amount()],
    )


@dataclass(frozen=True, slots=True)
class UsageBar:
    """The usage of an agent. `share`: percent of the total; `limit`: the used part of its monthly
    budget, as text; `saved`: what the provider's cache saved.
    """

    name: str
    text: str
    other: str
    width: str
    share: int
    limit: str
    look: str
    saved: str


def bars(
    found: BudgetUsage, unit: Unit, budgets: Sequence[BudgetView], *, is_now: bool
) -> list[UsageBar]:
    """Return the agents of the month, highest usage first."""
    views = (
        {view.agent_id: view for view in budgets if view.agent_id != ALL_AGENTS_KEY}
        if is_now
        else {}
    )
    other: Unit = "tokens" if unit == "cost" else "cost"
    rows = sorted(found.by_agent(), key=lambda item: -item[1].of(unit))
    top = max((amount.of(unit) for _, amount in rows), default=Decimal(0))
    made = []
    for agent_id, amount in rows:
        value, limit, look = amount.of(unit), "", ""
        view = views.get(agent_id)
        month = view.holding if view is not None else BudgetLimits()
        most = month.cost_per_month if unit == "cost" else month.tokens_per_month
        if most:
            percent = int(value * 100 / most)
            limit = gettext("%(percent)s %% of its monthly budget") % {"percent": percent}
            if percent >= 80:
                look = "is-over" if percent >= 100 else "is-near"
        made.append(
            UsageBar(
                name=agent_name(agent_id) if agent_id else gettext("No agent"),
                text=short_text(value, unit),
                other=short_text(amount.of(other), other),
                width=part(float(value), float(top)),
                share=round(value * 100 / found.total.of(unit)) if found.total.of(unit) else 0,
                limit=limit,
                look=look,
                saved=short_text(amount.saved, "cost") if amount.saved else "",
            )
        )
    return made
