"""AI settings and budgets over the API: stored values, errors, and secrets that are never answered."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from agents_app.ai_settings import update_ai_settings
from agents_app.budgets.limits import BudgetChanges, set_budget, today
from agents_app.models import AiSettings, Budget, BudgetNotice, Reservation, Spending
from proofroom.core.errors import CmsError
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import KEY
from tests.agents.environment import set_env
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

SETTINGS = "/api/ai-settings"
BUDGET = "/api/agent-budgets/seo-specialist"


@pytest.fixture
def admin() -> ApiClient:
    return ApiClient("admin")


def kept() -> list[tuple[str, str, str, str, int]]:
    return list(
        AiSettings.objects.values_list(
            "text_provider", "text_model", "media_provider", "media_model", "version"
        )
    )


def test_a_fresh_site_says_that_the_demo_answers(admin: ApiClient) -> None:
    told = admin.get(SETTINGS).json()

    assert (told["textProvider"], told["textModel"], told["version"]) == (None, None, 1)
    assert [item["id"] for item in told["providers"] if item["default"]] == ["demo", "demo"]
    assert {item["id"] for item in told["providers"] if item["configured"]} == {"demo"}
    assert not AiSettings.objects.exists()


def test_what_has_a_key_is_said_and_the_key_never(admin: ApiClient, settings: Any) -> None:
    set_env(
        settings,
        ai_provider_google_api_key=KEY,
        ai_provider_ollama_base_url="http://127.0.0.1:9/v1",
    )
    answer = admin.get(SETTINGS)

    assert KEY not in answer.content.decode()
    found = {(item["kind"], item["id"]): item for item in answer.json()["providers"]}
    assert found["text", "google"] == {
        "id": "google",
        "name": "Google",
        "kind": "text",
        "configured": True,
        "default": True,
        "defaultModel": "gemini-3.8-flash",
        "variable": "AI_PROVIDER_GOOGLE_API_KEY",
        "missing": None,
    }
    assert found["text", "ollama"]["configured"]
    assert found["media", "google"]["default"]
    assert not found["text", "openai"]["configured"]


def test_what_was_read_can_be_put_back_with_a_change(admin: ApiClient) -> None:
    told = admin.get(SETTINGS).json()
    answer = admin.send(
        "PUT", SETTINGS, {**told, "textProvider": "openai", "textModel": " gpt-6.1-terra "}
    )

    assert answer.status_code == 200, answer.content
    assert kept() == [("openai", "gpt-6.1-terra", "", "", 2)]
    event = Event.objects.get(name="ai.settings.changed")
    assert event.payload == {
        "textProvider": "openai",
        "textModel": "gpt-6.1-terra",
        "mediaProvider": "",
        "mediaModel": "",
        "fallbackProvider": "",
        "fallbackModel": "",
        "maskedPersonalData": ["name", "email", "phone", "address", "birthDate", "bankAccount"],
        "version": 2,
    }
    again = admin.send("PUT", SETTINGS, {"textProvider": "google"})
    assert (again.json()["textModel"], again.json()["version"]) == (None, 3)
    assert admin.send("PUT", SETTINGS, {"textProvider": None}).json()["textProvider"] is None
    before = kept()
    assert admin.send("PUT", SETTINGS, {}).status_code == 200
    assert kept() == before


def test_a_stale_version_writes_nothing(admin: ApiClient) -> None:
    admin.send("PUT", SETTINGS, {"textProvider": "openai", "version": 1})
    answer = admin.send("PUT", SETTINGS, {"textProvider": "google", "version": 1})

    assert (answer.status_code, answer.json()["code"]) == (409, "stale_version")
    assert kept() == [("openai", "", "", "", 2)]


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"mediaProvider": "anthropic"}, "mediaProvider"),
        ({"textProvider": ["openai"]}, "textProvider"),
        ({"textModel": "gpt"}, "textModel"),
        ({"textProvider": "openai", "textModel": "a\nb"}, "textModel"),
        ({"textProvider": "openai", "textModel": "a\x00b"}, "textModel"),
        ({"textProvider": "openai", "textModel": "m" * 121}, "textModel"),
        ({"textProvider": "openai", "textModel": True}, "textModel"),
        ({"version": "one"}, "version"),
        ({"apiKey": KEY}, "apiKey"),
    ],
    ids=[
        "no-images",
        "list",
        "no-provider",
        "lines",
        "nul",
        "long",
        "bool",
        "version",
        "key",
    ],
)
def test_settings_that_cannot_be_are_refused(admin: ApiClient, body: Any, key: str) -> None:
    answer = admin.send("PUT", SETTINGS, body)

    assert answer.status_code == 422, answer.content
    assert key in answer.json()["details"]
    assert kept() in ([], [("", "", "", "", 1)])
    assert not Event.objects.filter(name="ai.settings.changed").exists()


@pytest.mark.parametrize("who", ["editor", "agent", "mcp"])
def test_only_a_person_with_the_right_changes_settings_and_budgets(who: str) -> None:
    by = {
        "editor": make.actor("editor"),
        "agent": make.agent_actor(),
        "mcp": make.mcp_actor("admin"),
    }[who]
    for change in (
        lambda: update_ai_settings(actor=by, text_provider="openai"),
        lambda: set_budget(name="all", changes=BudgetChanges(tokens_per_day=5), actor=by),
    ):
        with pytest.raises(CmsError):
            change()
    assert not AiSettings.objects.exists()
    assert not Budget.objects.exists()


def test_a_limit_stays_until_it_is_taken_away(admin: ApiClient) -> None:
    admin.send("PUT", "/api/agent-budgets/default", {"costPerMonth": 5, "tokensPerDay": 900})
    answer = admin.send("PUT", BUDGET, {"tokensPerDay": 100, "costPerDay": 0.1})
    told = admin.send("PUT", BUDGET, {**answer.json(), "costPerDay": None}).json()

    assert told == {
        "agentId": "seo-specialist",
        "tokensPerDay": 100,
        "tokensPerMonth": None,
        "costPerDay": None,
        "costPerMonth": None,
        "holding": {
            "tokensPerDay": 100,
            "tokensPerMonth": None,
            "costPerDay": None,
            "costPerMonth": 5.0,
        },
        "usedToday": {"tokens": 0, "cost": 0.0, "cachedTokens": 0, "saved": 0.0},
        "usedThisMonth": {"tokens": 0, "cost": 0.0, "cachedTokens": 0, "saved": 0.0},
    }
    told = admin.send("PUT", BUDGET, {"tokensPerDay": None}).json()
    assert told["holding"]["tokensPerDay"] == 900
    assert sorted(Budget.objects.values_list("pk", flat=True)) == ["", "*"]
    events = Event.objects.filter(name="agent.budget.set").order_by("pk")
    assert [event.payload["agentId"] for event in events] == ["default", *["seo-specialist"] * 3]
    assert events[2].payload["before"]["costPerDay"] == 0.1


@pytest.mark.parametrize(
    "value", [-1, True, "5", 1.0000001, 10**16, [1], {}], ids=map(str, range(7))
)
def test_limits_that_cannot_be_are_refused(admin: ApiClient, value: Any) -> None:
    for field in ("tokensPerDay", "costPerMonth"):
        answer = admin.send("PUT", BUDGET, {field: value})
        assert answer.status_code == 422, (field, answer.content)
        assert field in answer.json()["details"]
    assert not Budget.objects.exclude(pk="*").exists()


@pytest.mark.parametrize("name", ["%00", "a" * 300, "*", "ALL"])
def test_a_budget_of_no_agent_is_missing(admin: ApiClient, name: str) -> None:
    answer = admin.send("PUT", f"/api/agent-budgets/{name}", {"tokensPerDay": 1})
    assert answer.status_code == 404, answer.content
    assert not Budget.objects.filter(tokens_per_day=1).exists()


def test_the_budget_of_an_agent_that_is_gone_can_be_taken_away(admin: ApiClient) -> None:
    Budget.objects.create(agent_id="gone", tokens_per_day=5)
    told = admin.get("/api/agent-budgets").json()["data"]
    assert [item["agentId"] for item in told][:3] == ["all", "default", "general-assistant"]
    assert "gone" in [item["agentId"] for item in told]

    answer = admin.send("PUT", "/api/agent-budgets/gone", {"tokensPerDay": None})

    assert answer.status_code == 200, answer.content
    assert not Budget.objects.filter(pk="gone").exists()


def test_a_changed_limit_sends_a_new_notification() -> None:
    for agent_id in ("seo-specialist", "*"):
        BudgetNotice.objects.create(
            agent_id=agent_id, period="day", begins=today(), level="reached"
        )
    set_budget(name="default", changes=BudgetChanges(tokens_per_day=9), actor=make.actor("admin"))
    assert list(BudgetNotice.objects.values_list("agent_id", flat=True)) == ["*"]


def test_usage_is_listed_by_day_and_agent_with_sums(admin: ApiClient) -> None:
    day = date(2026, 3, 31)
    for agent_id, back, cost in (("", 0, "0.04"), ("writer", 0, "0.1"), ("writer", 31, "0.2")):
        Spending.objects.create(
            agent_id=agent_id,
            day=day - timedelta(days=back),
            tokens=7,
            cost=Decimal(cost),
            cached_tokens=2,
            saved=Decimal("0.001"),
        )
    told = admin.get("/api/agent-usage?to=2026-03-31").json()

    cached = {"cachedTokens": 2, "saved": 0.001}
    assert told == {
        "from": "2026-03-01",
        "to": "2026-03-31",
        "data": [
            {"agentId": None, "day": "2026-03-31", "tokens": 7, "cost": 0.04, **cached},
            {"agentId": "writer", "day": "2026-03-31", "tokens": 7, "cost": 0.1, **cached},
        ],
        "meta": {"total": 2, "per_page": 20, "current_page": 1, "last_page": 1},
        "totals": {"tokens": 14, "cost": 0.14, "cachedTokens": 4, "saved": 0.002},
    }
    assert len(admin.get("/api/agent-usage?from=2026-01-01&to=2026-03-31").json()["data"]) == 3


@pytest.mark.parametrize(
    "query",
    [
        "from=2026-02-01&to=2026-01-01",
        "from=2025-01-01&to=2026-01-02",
        "from=20260101",
        "to=2026-02-30",
        "to=%00",
        "from=0000-00-00",
    ],
)
def test_a_range_that_cannot_be_is_refused(admin: ApiClient, query: str) -> None:
    assert admin.get(f"/api/agent-usage?{query}").status_code == 422


def test_what_is_reserved_counts_as_used_of_a_budget(admin: ApiClient) -> None:
    Spending.objects.create(
        agent_id="seo-specialist",
        day=today(),
        tokens=10,
        cost=Decimal("0.1"),
        cached_tokens=3,
        saved=Decimal("0.02"),
    )
    Reservation.objects.create(
        agent_id="seo-specialist", day=today(), tokens=5, cost=Decimal("0.2")
    )
    told = {item["agentId"]: item for item in admin.get("/api/agent-budgets").json()["data"]}
    cached = {"cachedTokens": 3, "saved": 0.02}
    for name in ("all", "seo-specialist"):
        assert told[name]["usedToday"] == {"tokens": 15, "cost": 0.3, **cached}
    none = {"tokens": 0, "cost": 0.0, "cachedTokens": 0, "saved": 0.0}
    assert told["default"]["usedToday"] == none
