"""A second provider takes over during an outage of the first, over each provider's own protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agents_app.ai_settings import update_ai_settings
from agents_app.models import AgentRun, Budget, ProviderPause, RunStatus, Spending
from agents_app.providers.interface import ProviderChoice
from agents_app.providers.outages import PAUSE, pause_after_outage, plan_around_outage
from content.layers import open_layers
from tests import make
from tests.agents.asking import KEY, execute
from tests.agents.environment import set_env, write_agent
from tests.agents.talking import MODELS, choice_of
from tests.api_client import ApiClient
from tests.fake_provider import Call, FakeProvider, Reply, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_pauses")]

ANSWER = Reply({"post": {"metaTitle": "A title of the fallback"}, "summary": "Done."})
PAIRS = [("openai", "anthropic"), ("anthropic", "google"), ("google", "openai")]
each_pair = pytest.mark.parametrize(("first", "second"), PAIRS)
LOOK = "llmConfig: {useMCP: true, allowedMCPTools: [list_post_types]}"


class Providers:
    """Fake providers in place of the real ones. The first one started is the site's, the second its fallback."""

    def __init__(self, settings: Any, stack: ExitStack) -> None:
        self._settings, self._stack = settings, stack

    def start(self, name: str, *replies: Reply) -> FakeProvider:
        fake = self._stack.enter_context(serving(*replies))
        self.use(name, choice_of(name, fake).base_url or "")
        return fake

    def use(self, name: str, address: str) -> None:
        keys = {f"ai_provider_{name}_api_key": KEY, f"ai_provider_{name}_base_url": address}
        set_env(self._settings, **keys)


@pytest.fixture
def providers(settings: Any) -> Iterator[Providers]:
    with ExitStack() as stack:
        yield Providers(settings, stack)


def choose(first: str, second: str) -> None:
    update_ai_settings(actor=make.actor("admin"), text_provider=first, fallback_provider=second)


def dead_address() -> str:
    with serving(ANSWER) as fake:
        return fake.openai_url


@each_pair
@pytest.mark.parametrize(
    "outage",
    [Reply(status=500), Reply(status=503), Reply(status=429), Reply(dropped=True)],
    ids=["failed", "down", "busy", "dropped"],
)
def test_the_fallback_answers_during_an_outage(
    providers: Providers, first: str, second: str, outage: Reply
) -> None:
    dead, alive = providers.start(first, outage), providers.start(second, ANSWER)
    choose(first, second)
    post = make.post()
    run = execute(post)

    assert (run.status, run.error) == (RunStatus.SUCCEEDED, "")
    assert (run.provider, run.model) == (second, MODELS[second])
    assert run.fallback_from == {"provider": first, "model": MODELS[first]}
    assert open_layers(post).ai_review.document.fields["metaTitle"] == "A title of the fallback"
    assert (len(dead.asked), len(alive.asked)) == (3, 1), "after the usual tries"
    names = list(run.steps.order_by("number").values_list("name", "ok"))
    assert names == [(MODELS[first], False)] * 3 + [(MODELS[second], True)]


@each_pair
def test_a_provider_that_cannot_be_reached_is_replaced(
    providers: Providers, first: str, second: str
) -> None:
    providers.use(first, dead_address())
    providers.start(second, ANSWER)
    choose(first, second)

    assert execute(make.post()).provider == second


@each_pair
@pytest.mark.parametrize(
    "reply",
    [
        Reply(refusal="I will not do that."),
        Reply(status=400),
        Reply(status=401),
        Reply(status=404),
        Reply({"post": {"metaTitle": 7}}),
        Reply(text="Certainly! Here is what I think of it."),
        Reply({"summary": "x"}, finish="length"),
    ],
    ids=["refusal", "bad-request", "key", "model", "wrong-form", "prose", "cut-off"],
)
def test_refusals_and_bad_answers_never_reach_the_fallback(
    providers: Providers, first: str, second: str, reply: Reply
) -> None:
    providers.start(first, reply)
    other = providers.start(second, ANSWER)
    choose(first, second)
    run = execute(make.post())

    assert (run.status, run.provider, run.fallback_from) == (RunStatus.FAILED, first, None)
    assert other.asked == []
    assert not ProviderPause.objects.exists()


@each_pair
def test_costs_are_those_of_the_model_that_answered(
    providers: Providers, first: str, second: str
) -> None:
    providers.start(first, Reply(status=503))
    providers.start(second, ANSWER)
    choose(first, second)
    run = execute(make.post())

    expected = {"openai": "0.0015", "anthropic": "0.003", "google": "0.001125"}[second]
    assert run.cost == Decimal(expected)
    assert (run.input_tokens, run.output_tokens) == (1000, 100)
    assert Spending.objects.get().cost == Decimal(expected)


def test_the_budget_holds_for_the_fallback(providers: Providers) -> None:
    """The fallback's price per token counts, and it may not pass the limit that the first would keep."""
    dead = providers.start("google", Reply(status=503))
    alive = providers.start("anthropic", ANSWER)
    choose("google", "anthropic")
    update_ai_settings(actor=make.actor("admin"), fallback_model="claude-opus-5-5")
    Budget.objects.create(agent_id="seo-specialist", cost_per_day=Decimal("0.08"))
    run = execute(make.post())

    assert run.status == RunStatus.FAILED
    assert run.error.startswith("The budget"), run.error
    assert (len(dead.asked), alive.asked) == (3, [])


@each_pair
def test_the_fallback_continues_a_conversation_with_tools(
    providers: Providers, first: str, second: str, agents_dir: Path
) -> None:
    """It gets the tool calls and answers of the first provider, and does not call the tools again."""
    write_agent(agents_dir, "looker", "dropdown", extra=LOOK)
    looked = Reply(calls=(Call("list_post_types", {}),))
    providers.start(first, looked, Reply(status=503))
    alive = providers.start(second, ANSWER)
    choose(first, second)
    run = execute(make.post(), agent_id="looker")

    assert (run.status, run.error) == (RunStatus.SUCCEEDED, "")
    assert run.provider == second
    assert "hierarchical" in alive.said(), "the tool's answer"
    assert list(run.steps.filter(kind="tool").values_list("name", flat=True)) == ["list_post_types"]


def test_later_runs_skip_a_dead_provider_until_the_pause_is_over(providers: Providers) -> None:
    dead, alive = providers.start("openai", Reply(status=503)), providers.start("anthropic", ANSWER)
    choose("openai", "anthropic")
    post = make.post()
    execute(post)
    asked = len(dead.asked)
    second = execute(post)

    assert len(dead.asked) == asked
    assert second.fallback_from == {"provider": "openai", "model": MODELS["openai"]}
    assert len(alive.asked) == 2
    ends = ProviderPause.objects.get().ends_at
    assert timedelta(0) < ends - timezone.now() <= PAUSE

    ProviderPause.objects.update(ends_at=timezone.now())
    execute(post)
    assert len(dead.asked) == asked + 3


def test_without_a_fallback_a_paused_provider_is_asked(providers: Providers) -> None:
    fake = providers.start("openai", ANSWER)
    pause_after_outage(ProviderChoice("openai", MODELS["openai"]))
    run = execute(make.post())

    assert (run.status, run.fallback_from, len(fake.asked)) == (RunStatus.SUCCEEDED, None, 1)


def test_both_in_pause_are_asked_in_their_order() -> None:
    first, second = ProviderChoice("openai", "a"), ProviderChoice("anthropic", "b")
    pause_after_outage(first)
    pause_after_outage(first)
    assert plan_around_outage(first, second).choice == second
    pause_after_outage(second)
    plan = plan_around_outage(first, second)
    assert (plan.choice, plan.fallback, plan.skipped) == (first, second, None)


def test_when_both_are_down_the_run_names_both(providers: Providers) -> None:
    providers.start("openai", Reply(status=503))
    providers.start("anthropic", Reply(status=529))
    choose("openai", "anthropic")
    run = execute(make.post())

    assert run.status == RunStatus.FAILED
    assert "openai failed (503)" in run.error
    assert "anthropic failed (529)" in run.error


def test_an_agent_that_names_its_provider_uses_only_its_own_fallback(
    providers: Providers, agents_dir: Path
) -> None:
    """Content of such an agent goes only to providers that its file names."""
    write_agent(agents_dir, "tied", "dropdown", extra="llmConfig: {providerText: openai}")
    own = "llmConfig: {providerText: openai, fallbackProvider: google, fallbackModel: gemini-3.8-flash}"
    write_agent(agents_dir, "free", "dropdown", extra=own)
    providers.start("openai", Reply(status=503))
    site, named = providers.start("anthropic", ANSWER), providers.start("google", ANSWER)
    choose("openai", "anthropic")

    post = make.post()
    assert execute(post, agent_id="tied").status == RunStatus.FAILED
    assert site.asked == []
    assert execute(post, agent_id="free").provider == "google"
    assert (len(named.asked), site.asked) == (1, [])


def test_a_fallback_without_a_key_is_none(providers: Providers) -> None:
    providers.start("openai", Reply(status=503))
    choose("openai", "anthropic")
    run = execute(make.post())

    assert (run.status, run.fallback_from) == (RunStatus.FAILED, None)


def test_the_api_and_the_page_of_a_run_name_the_outage(providers: Providers) -> None:
    providers.start("openai", Reply(status=503))
    providers.start("anthropic", ANSWER)
    choose("openai", "anthropic")
    run = execute(make.post())
    client = ApiClient("admin")

    told = client.get(f"/api/agent-runs/{run.pk}").json()
    assert told["fallbackFrom"] == {"provider": "openai", "model": MODELS["openai"]}
    page = client.get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    assert f"openai {MODELS['openai']} had an outage" in page
    settings_page = client.get("/admin/agents_app/aisettings/").content.decode()
    assert "Skipped until" in settings_page
    assert AgentRun.objects.count() == 1
