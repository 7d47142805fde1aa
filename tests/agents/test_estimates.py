"""The estimate of a bulk run before it starts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agents_app.ai_settings import update_ai_settings
from agents_app.batches.lifecycle import estimate_bulk
from agents_app.budgets.limits import Limit, period_renewal, today
from agents_app.budgets.usage import RemainingBudget
from agents_app.definitions.agents import get_agent
from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun, Budget, Reservation, RunStatus, RunStep, Spending
from agents_app.providers.interface import ProviderChoice
from agents_app.providers.prices import cost_of
from agents_app.runs.estimates import SHARE_OF_MOST, Estimate, estimate
from agents_app.runs.execution import MAX_RETRIES
from proofroom.core.errors import NotAllowed, NotFound
from tests import make
from tests.agents.environment import set_env, write_agent
from tests.api_client import ApiClient
from tests.contract.endpoint import NOBODY
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

OPENAI = ProviderChoice("openai", "gpt-6.1-terra")


@pytest.fixture
def writer(agents_dir: Any, settings: Any) -> AgentDefinition:
    """Create an agent without tools, answered by OpenAI."""
    write_agent(agents_dir, "writer", "posts.bulk", extra="llmConfig: {options: {maxTokens: 4000}}")
    set_env(settings, ai_provider_openai_api_key="sk-none", cms_agents_dir=agents_dir)
    found = get_agent("writer")
    assert found is not None
    return found


def ran(requests: int, output_tokens: int, status: str = RunStatus.SUCCEEDED) -> None:
    run = AgentRun.objects.create(
        agent_id="writer",
        scope="posts.bulk",
        by_name="admin",
        via="api",
        status=status,
        output_tokens=output_tokens,
    )
    for number in range(requests):
        RunStep.objects.create(
            run=run, number=number, kind="model", name="gpt", ok=True, milliseconds=1
        )


def test_an_agent_that_never_ran_is_taken_to_write_a_part_of_its_longest_answer(
    writer: AgentDefinition,
) -> None:
    post = make.post(markdown="word " * 2000)
    found = estimate(writer, [post])

    assert found.output_tokens == round(4000 * SHARE_OF_MOST)
    assert 2500 < found.input_tokens < 6000, "10,000 characters of text, and what goes with them"
    assert found.cost == cost_of(OPENAI, found.input_tokens, found.output_tokens)
    assert found.most_tokens == (found.input_tokens + 4000) * (1 + MAX_RETRIES)
    one = cost_of(OPENAI, found.input_tokens, 4000)
    assert one is not None
    assert found.most_cost == one * (1 + MAX_RETRIES)
    assert not found.is_from_history


def test_one_that_ran_is_taken_to_do_as_its_median_run(writer: AgentDefinition) -> None:
    for requests, tokens in ((1, 100), (2, 300), (2, 9000)):
        ran(requests, tokens)
    ran(9, 9999, RunStatus.FAILED)
    post = make.post()

    found = estimate(writer, [post])

    once = estimate(writer, [post], "x" * 400)
    assert found.is_from_history
    assert found.output_tokens == 300
    assert once.input_tokens - found.input_tokens == 2 * 100, "words of the caller, twice"


def test_the_layer_that_the_run_reads_is_measured(writer: AgentDefinition) -> None:
    post = make.post()
    before = estimate(writer, [post]).input_tokens
    make.staged(post, {"excerpt": "long " * 400})
    assert estimate(writer, [post]).input_tokens - before == pytest.approx(500, abs=3)


def test_as_many_statements_for_many_posts(writer: AgentDefinition) -> None:
    posts = [make.post(f"Post {number}") for number in range(6)]
    shared = make.global_module()
    for post in posts:
        make.placed(post, shared)
        make.staged(post, {"excerpt": "Staged"})

    def statements(number: int) -> int:
        return count_queries(estimate, writer, posts[:number])

    assert statements(6) == statements(1) <= 9


def test_the_demo_costs_nothing_and_says_so() -> None:
    answer = ApiClient("admin").send(
        "POST",
        "/api/posts/bulk-agents/seo-specialist/estimate",
        {"ids": [str(make.post().pk), NOBODY, "no-id"]},
    )
    told = answer.json()
    assert (answer.status_code, told["demo"], told["cost"], told["mostCost"]) == (200, True, 0, 0)
    assert (told["posts"], told["usage"]) == (
        1,
        {"inputTokens": 0, "outputTokens": 0, "cachedTokens": 0},
    )
    assert [item["id"] for item in told["rejected"]] == [NOBODY, "no-id"]
    assert not AgentRun.objects.exists()


def test_a_model_without_a_price_counts_in_tokens(writer: AgentDefinition, settings: Any) -> None:
    update_ai_settings(actor=make.actor("admin"), text_provider="openai", text_model="of-tomorrow")
    found = estimate(writer, [make.post("Another")])
    assert (found.model, found.cost, found.most_cost) == ("of-tomorrow", None, None)
    assert found.input_tokens > 0


def test_nobody_to_answer_is_said_in_place_of_figures(
    writer: AgentDefinition, settings: Any
) -> None:
    chosen = writer.model_copy(
        update={"llm_config": writer.llm_config.model_copy(update={"provider_text": "google"})}
    )
    found = estimate(chosen, [make.post()])
    assert "google, which has no key" in found.problem
    assert (found.cost, found.input_tokens) == (None, 0)


def test_what_is_left_is_said_with_what_is_reserved_taken_off(writer: AgentDefinition) -> None:
    Budget.objects.create(agent_id="", cost_per_day=Decimal("1"))
    Budget.objects.create(agent_id="*", tokens_per_month=100)
    Spending.objects.create(agent_id="writer", day=today(), tokens=30, cost=Decimal("0.25"))
    Reservation.objects.create(agent_id="else", day=today(), tokens=20, cost=Decimal("0.5"))

    told = ApiClient("admin").send(
        "POST", "/api/posts/bulk-agents/writer/estimate", {"ids": [str(make.post().pk)]}
    )

    left = [
        (item["agentId"], item["period"], item["unit"], item["left"])
        for item in told.json()["left"]
    ]
    assert left == [("writer", "day", "cost", 0.75), ("all", "month", "tokens", 50)]
    assert (told.json()["fits"], told.json()["fitsAtMost"]) == (False, False)


@pytest.mark.parametrize(
    ("tokens", "beyond", "at_most"),
    [(100, 0, 0), (99, 0, 1), (39, 1, 1)],
    ids=["all", "few", "none"],
)
def test_a_budget_lasts_or_does_not(tokens: int, beyond: int, at_most: int) -> None:
    limit = Limit("*", "day", "tokens", Decimal(200))
    found = Estimate(
        1,
        input_tokens=30,
        output_tokens=10,
        most_tokens=100,
        left=[RemainingBudget(limit, Decimal(tokens), period_renewal("day", today()))],
    )
    assert (len(found.beyond()), len(found.beyond(at_most=True))) == (beyond, at_most)


def test_it_refuses_what_the_run_would_refuse() -> None:
    for role, agent_id, error in (
        ("editor", "seo-specialist", NotAllowed),
        ("admin", "nobody", NotFound),
    ):
        with pytest.raises(error):
            estimate_bulk(agent_id=agent_id, post_ids=[NOBODY], actor=make.actor(role))
