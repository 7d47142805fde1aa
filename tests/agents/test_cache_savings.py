"""Reads from a provider's cache: counted in the run and in budgets, as tokens and as money saved."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agents_app.budgets.limits import today
from agents_app.models import Spending
from agents_app.providers.interface import ProviderChoice
from agents_app.providers.prices import cost_of, savings_of
from tests import make
from tests.agents.asking import execute
from tests.agents.talking import MODELS, PROVIDERS, Notes, talking
from tests.api_client import ApiClient
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_provider_reports_its_cache_reads(provider: str) -> None:
    notes = Notes()
    with talking(provider, Reply({"title": "Good"}, cached=600), watcher=notes) as (talk, _fake):
        talk.ask("A question", retries=0, seconds=20)

    (step,) = notes.steps
    choice = ProviderChoice(provider, MODELS[provider])
    assert (talk.usage.input_tokens, talk.usage.cached_tokens, step.cached_tokens) == (
        1000,
        600,
        600,
    )
    full, paid = cost_of(choice, 1000, 100), cost_of(choice, 1000, 100, cached_tokens=600)
    assert full is not None
    assert paid is not None
    assert step.saved == savings_of(choice, 1000, 600)
    # Costs are rounded up, each by less than a millionth.
    assert abs(step.saved - (full - paid)) <= Decimal("0.000001")
    assert (step.saved > 0) is (provider != "ollama")
    assert "600 from the cache" in step.summary


def test_the_run_and_its_budget_count_what_the_cache_saved(openai: Any, signed_in: Any) -> None:
    openai(
        Reply({"post": {"title": 5}}, cached=200),
        Reply({"post": {"metaTitle": "Good"}}, cached=600),
    )

    run = execute(make.post())

    choice = ProviderChoice("openai", MODELS["openai"])
    saved = savings_of(choice, 1000, 200) + savings_of(choice, 1000, 600)
    assert (run.input_tokens, run.cached_tokens, run.saved) == (2000, 800, saved)
    row = Spending.objects.get(agent_id="seo-specialist", day=today())
    assert (row.cached_tokens, row.saved) == (800, saved)
    client = ApiClient("admin")
    usage = client.get(f"/api/agent-runs/{run.pk}").json()["usage"]
    assert usage == {"inputTokens": 2000, "outputTokens": 200, "cachedTokens": 800}
    budgets = {row["agentId"]: row for row in client.get("/api/agent-budgets").json()["data"]}
    for name in ("seo-specialist", "all"):
        used = budgets[name]["usedToday"]
        assert (used["cachedTokens"], used["saved"]) == (800, float(saved))
    page = signed_in("admin").get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    assert "800" in page
    assert "Saved by the cache" in page
    money = signed_in("admin").get("/admin/agents_app/aisettings/").content.decode()
    assert "Saved by the cache" in money
    assert " saved by the cache" in money


def test_without_cache_reads_nothing_is_said_of_savings(openai: Any, signed_in: Any) -> None:
    openai(Reply({"post": {"metaTitle": "Good"}}))

    run = execute(make.post())

    assert (run.cached_tokens, run.saved) == (0, Decimal(0))
    page = signed_in("admin").get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    assert "Saved by the cache" not in page


def test_a_provider_cannot_report_more_cache_reads_than_input(openai: Any) -> None:
    openai(Reply({"post": {"metaTitle": "Good"}}, cached=5000))

    run = execute(make.post())

    assert (run.input_tokens, run.cached_tokens) == (1000, 1000)
