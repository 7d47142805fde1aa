"""AI settings, budgets, usage and estimates."""

from __future__ import annotations

from agents_app.budgets.limits import today
from agents_app.models import Budget, Spending
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names


def scene() -> Names:
    # Earlier runs may have used some of the same day's budget.
    used = {"tokens": 1200, "cost": "0.04"}
    Spending.objects.update_or_create(used, agent_id="seo-specialist", day=today())
    return {"post_id": str(make.post().pk), "agent_id": "seo-specialist"}


def grow(number: int) -> None:
    begin = Budget.objects.count()
    Budget.objects.bulk_create(
        [Budget(agent_id=f"gone-{begin + index}", tokens_per_day=1) for index in range(number)]
    )


def grow_usage(number: int) -> None:
    begin = Spending.objects.count()
    Spending.objects.bulk_create(
        [Spending(agent_id=f"gone-{begin + index}", day=today()) for index in range(number)]
    )


ENDPOINTS = [
    Endpoint("GET /api/ai-settings", ADMIN),
    Endpoint(
        "PUT /api/ai-settings",
        ADMIN,
        body={"textProvider": "anthropic", "textModel": "claude-sonnet-5-5"},
        invalid=({"textProvider": "nobody"}, "textProvider"),
        stale={"textProvider": None, "version": 7},
    ),
    Endpoint("GET /api/settings/data-flows", ADMIN),
    Endpoint("GET /api/agent-budgets", ADMIN, grow=grow),
    Endpoint(
        "PUT /api/agent-budgets/<agent_id>",
        ADMIN,
        body={"tokensPerDay": 100000, "costPerMonth": 12.5},
        invalid=({"costPerDay": -1}, "costPerDay"),
    ),
    Endpoint("GET /api/agent-usage", ADMIN, invalid=("?from=yesterday", "from"), grow=grow_usage),
    Endpoint(
        "POST /api/posts/bulk-agents/<agent_id>/estimate",
        ADMIN,
        body={"ids": ["<post_id>"]},
        invalid=({"ids": []}, "ids"),
    ),
]
