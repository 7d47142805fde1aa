"""The page of AI settings: figures, budgets and defaults."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from agents_app.admin.budgets.ai_settings_admin import bars, columns
from agents_app.budgets import usage
from agents_app.budgets.limits import period_start, today
from agents_app.budgets.reservations import reserve, settle
from agents_app.models import AiSettings, Budget, Spending
from proofroom.core.admin.charts import HEIGHT
from tests.agents.asking import KEY
from tests.agents.environment import set_env

pytestmark = pytest.mark.django_db

PAGE = "/admin/agents_app/aisettings/"
SignedIn = Callable[..., Client]


def used(agent_id: str, tokens: int, cost: str, day: date | None = None) -> None:
    Spending.objects.create(
        agent_id=agent_id, day=day or today(), tokens=tokens, cost=Decimal(cost)
    )


def budget_form(client: Client, **changed: str) -> dict[str, str]:
    """Return the complete form data of the table, with some fields changed."""
    html = client.get(PAGE).content.decode()
    found = {}
    for tag in re.findall(r"<input [^>]+>", html):
        values = dict(re.findall(r'(name|value)="([^"]*)"', tag))
        if "_per_" in values.get("name", ""):
            found[values["name"]] = values.get("value", "")
    assert changed.keys() <= found.keys()
    return {**found, **changed, "budgets": ""}


def test_an_empty_page_says_what_comes_next(signed_in: SignedIn) -> None:
    used("seo-specialist", 0, "0")
    page = signed_in("admin").get(PAGE).content.decode()
    assert "Demo mode: answers come from fixed rules, not from AI. Free of charge" in page
    assert "on 0 days" not in page
    assert "No usage yet. Usage by day and by agent appears here once agents run" in page
    assert '<svg role="img" width="100%" height="172"' not in page


def test_usage_is_drawn_and_listed_in_a_table(signed_in: SignedIn, settings: Any) -> None:
    set_env(settings, ai_provider_anthropic_api_key=KEY)
    used("seo-specialist", 4000, "2.5")
    used("translator", 90000, "7.5")
    used("", 0, "0.04")
    Budget.objects.create(agent_id="", cost_per_month=Decimal(9))

    page = signed_in("admin").get(PAGE).content.decode()

    assert KEY not in page
    assert "AI_PROVIDER_ANTHROPIC_API_KEY" in page
    assert "$10.04" in page
    assert f"highest on {today().day} {today():%B}: $10.04" in page
    names = re.findall(r'<li class="([^"]*)"><span class="name">([^<]+)</span>', page)
    assert names == [("is-near", "Translator"), ("", "SEO specialist"), ("", "No agent")]
    assert "83 % of its month" in page
    assert "94,000 tokens" in page
    assert f'<th scope="row">{today().day} {today():%B}</th><td>10.0400</td>' in page


def test_another_month_and_another_unit_are_a_link_away(signed_in: SignedIn) -> None:
    last_month = period_start("month", today()) - timedelta(days=1)
    used("translator", 1234, "0.5", last_month)
    client = signed_in("admin")

    page = client.get(PAGE).content.decode()
    assert "1,234" not in page
    page = client.get(f"{PAGE}?month={last_month:%Y-%m}&unit=tokens").content.decode()
    assert "<strong>1,234 tokens</strong>" in page
    for odd in (
        "month=9999-12",
        "month=0001-01",
        "month=x",
        "unit=sums",
        "month=1999-13",
    ):
        assert client.get(f"{PAGE}?{odd}").status_code == 200


def test_a_column_is_as_high_as_its_day_and_little_is_not_nothing() -> None:
    first = date(2026, 2, 1)
    used("a", 1, "4", first)
    used("b", 1, "1", date(2026, 2, 2))
    used("a", 1, "0.0001", date(2026, 2, 28))
    found = usage.usage(first, date(2026, 2, 28))

    drawn = columns(found, "cost", date(2026, 2, 28))

    assert [column.drawn.height for column in drawn.columns if column.drawn.height != "0.0"] == [
        f"{HEIGHT:.1f}",
        f"{HEIGHT / 4:.1f}",
        "2.0",
    ]
    assert len(drawn.columns) == 28
    assert (drawn.peak, drawn.peak_day) == ("$4.00", first)
    assert [(bar.name, bar.width, bar.share) for bar in bars(found, "cost", [], is_now=False)] == [
        ("a", "100.0%", 80),
        ("b", "25.0%", 20),
    ]


def test_budgets_are_saved_from_the_table_and_only_what_was_changed(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    sent = budget_form(
        client, **{"translator-cost_per_month": "12.50", "all-tokens_per_day": "900"}
    )
    # A concurrent change of another field.
    Budget.objects.create(agent_id="translator", tokens_per_day=77)

    answer = client.post(PAGE, sent, follow=True)

    assert "Saved budgets." in answer.content.decode()
    rows = {row.agent_id: row for row in Budget.objects.all()}
    assert sorted(rows) == ["*", "translator"]
    assert (rows["translator"].cost_per_month, rows["translator"].tokens_per_day) == (
        Decimal("12.5"),
        77,
    )
    assert rows["*"].tokens_per_day == 900
    answer = client.post(PAGE, budget_form(client), follow=True)
    assert "No changes to save." in answer.content.decode()


def test_one_wrong_limit_saves_none(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    sent = budget_form(client, **{"translator-cost_per_month": "-1", "all-tokens_per_day": "900"})

    answer = client.post(PAGE, sent)

    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Not saved. Correct the marked fields." in page
    assert 'id="id_translator-cost_per_month_error"' in page
    assert not Budget.objects.exists()


def test_defaults_are_saved_and_a_stale_page_is_refused(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    sent = {"textProvider": "openai", "textModel": "", "mediaProvider": "", "mediaModel": ""}

    client.post(PAGE, {**sent, "version": "1", "defaults": ""})
    answer = client.post(PAGE, {**sent, "textProvider": "google", "version": "1", "defaults": ""})

    assert answer.status_code == 422
    assert "have changed since you opened them" in answer.content.decode()
    assert AiSettings.objects.values_list("text_provider", "version").get() == ("openai", 2)
    answer = client.post(
        PAGE, {**sent, "textModel": "x", "textProvider": "", "version": "2", "defaults": ""}
    )
    assert "Choose a provider for the model" in answer.content.decode()


def test_home_names_the_budgets_that_are_used_up_or_nearly(signed_in: SignedIn) -> None:
    Budget.objects.create(agent_id="translator", tokens_per_day=100, tokens_per_month=120)
    assert "home-budgets" not in signed_in("admin").get("/admin/").content.decode()
    settle(reserve(agent_id="translator", run=None, tokens=100, cost=None), tokens=100, cost=None)

    page = signed_in("admin").get("/admin/").content.decode()

    card = page.partition('id="home-budgets"')[2].partition("</section>")[0]
    assert card.count("<li>") == 2
    assert re.findall(r"(used up|nearly used|\w+’s budget)", card) == [
        "used up",
        "today’s budget",
        "nearly used",
        "month’s budget",
    ]
    assert PAGE in card
    assert "home-budgets" not in signed_in("editor").get("/admin/").content.decode()


def test_nobody_else_sees_or_sends_it(signed_in: SignedIn) -> None:
    client = signed_in("editor")
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE, {"textProvider": "openai", "defaults": ""}).status_code == 403
    assert not AiSettings.objects.exists()
