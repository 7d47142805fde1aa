"""A warning comes before a budget ends: on pages, as a notification and e-mail, and with runs."""

from __future__ import annotations

import pytest

from agents_app.budgets.limits import today
from agents_app.budgets.reservations import budget_warnings, notify_spending, reserve, settle
from agents_app.models import AgentRun, Budget, BudgetNotice
from proofroom.core.models import Event
from proofroom.core.tools import get_tool
from proofroom.core.tools.call import call_raw
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import notification_kinds
from proofroom.notifications.services import add_notifications
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

AGENT = "seo-specialist"


@pytest.fixture
def nearly_used_up() -> None:
    """Use 85 of 100 tokens of a day."""
    make.actor("admin")
    make.actor("editor")
    Budget.objects.create(agent_id=AGENT, tokens_per_day=100)
    settle(reserve(agent_id=AGENT, run=None, tokens=85, cost=None), tokens=85, cost=None)


@pytest.mark.usefixtures("nearly_used_up")
def test_people_who_can_raise_it_are_notified_once() -> None:
    notify_spending(AGENT, today())
    events = list(Event.objects.filter(name="agent.budget.near"))
    add_notifications(events)
    add_notifications(events)

    (row,) = Notification.objects.filter(kind="agent.budget")
    assert row.user.role == "admin"
    kind = next(one for one in notification_kinds if one.name == "agent.budget")
    text = kind.describe([row])[row.pk]
    assert text.text.endswith("used over 80 % of today’s budget.")
    assert text.url == "/admin/agents_app/aisettings/"
    assert kind.can_be_mailed


@pytest.mark.usefixtures("nearly_used_up")
def test_runs_and_pages_carry_the_warning() -> None:
    run = AgentRun.objects.create(agent_id=AGENT, scope="global", by_name="x", via="api")
    (sentence,) = budget_warnings(AGENT)
    client = ApiClient("admin")

    assert client.get(f"/api/agent-runs/{run.pk}").json()["budgetWarnings"] == [sentence]
    assert "budgetWarnings" not in client.get("/api/agent-runs").json()["data"][0]
    tool = get_tool("get_agent_run")
    assert tool is not None
    body = call_raw(tool, make.actor("admin"), {"runId": str(run.pk)}).body.decode()
    assert sentence in body
    assert "home-budgets" in client.get("/admin/").content.decode()
    assert "is-near" in client.get("/admin/agents_app/aisettings/").content.decode()
    page = client.get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    assert sentence in page


@pytest.mark.usefixtures("nearly_used_up")
def test_a_used_up_budget_replaces_the_warning() -> None:
    settle(reserve(agent_id=AGENT, run=None, tokens=15, cost=None), tokens=15, cost=None)

    assert [text.endswith("used up today’s budget.") for text in budget_warnings(AGENT)] == [True]
    assert BudgetNotice.objects.count() == 2


def test_without_a_notice_there_is_no_warning() -> None:
    assert budget_warnings(AGENT) == []
