"""Estimates of the expected and the maximum usage of runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from statistics import median
from typing import Final

from django.conf import settings
from django.db.models import Count, Q

from agents_app.budgets.limits import Amount
from agents_app.budgets.usage import RemainingBudget, remaining_budgets
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.definitions.versions import load_versions
from agents_app.models import AgentRun, RunStatus
from agents_app.providers.interface import (
    DEFAULT_ANSWER_TOKENS,
    DEMO_PROVIDER,
    ProviderChoice,
    ProviderError,
)
from agents_app.providers.prices import cost_of
from agents_app.providers.selection import choose_provider
from agents_app.runs.allowed_fields import fields_of_run
from agents_app.runs.answer_schema import answer_type
from agents_app.runs.execution import MAX_RETRIES
from agents_app.runs.permissions import listed_tools
from agents_app.runs.prompt import run_message, system_prompt
from content.layers import open_layers_of_many
from content.models import ModuleInstance, Post
from proofroom.briefs.effective import load_briefs
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools.schemas import lean_schema

CHARACTERS_PER_TOKEN: Final = 4
SHARE_OF_MOST: Final = 0.15
"""Expected share of the maximum answer length, for an agent without past runs."""
_RUNS: Final = 20


@dataclass(frozen=True, slots=True)
class Estimate:
    """`cost` and `most_cost` are None if the model's price is unknown.

    `problem`: reason why no provider would answer. `is_from_history`: True if based on the agent's
    own runs.
    """

    posts: int
    provider: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None
    most_tokens: int = 0
    most_cost: Decimal | None = None
    is_from_history: bool = False
    left: Sequence[RemainingBudget] = field(default_factory=tuple)
    problem: str = ""
    challenger: str = ""
    """Provider and model of the challenger, which answers `share` percent of the runs; empty without one."""
    share: int = 0

    @property
    def is_demo(self) -> bool:
        return self.provider == DEMO_PROVIDER

    def beyond(self, *, at_most: bool = False) -> list[RemainingBudget]:
        """Return the limits that are too low for the expected usage, or for the maximum."""
        expected = Amount(self.input_tokens + self.output_tokens, self.cost or Decimal(0))
        most = Amount(self.most_tokens, self.most_cost or Decimal(0))
        wanted = most if at_most else expected
        return [item for item in self.left if wanted.of(item.limit.unit) > item.left]


@dataclass(frozen=True, slots=True)
class _Habit:
    """The usual number of requests in a run of the agent, and its total output tokens."""

    requests: int
    output_tokens: int
    is_known: bool


def estimate(
    agent: AgentDefinition, posts: Sequence[Post], words: str = "", *, scope: str = Scope.BULK
) -> Estimate:
    """Return the estimated usage of one run on each post. A dozen queries for any number of posts.

    With a challenger, which takes a few more, the expected usage is that of both by their shares, and the
    maximum is that of the dearer one: which of them answers a run is known only when it exists.
    """
    left, versions = remaining_budgets(agent.id), load_versions(agent)
    found = _estimate_version(versions.champion, posts, words, left, scope)
    if versions.challenger is None or found.problem:
        return found
    other = _estimate_version(versions.challenger, posts, words, left, scope)
    if other.problem:
        return replace(found, problem=other.problem)
    share = Decimal(versions.share) / 100
    return replace(
        found,
        input_tokens=_mixed(found.input_tokens, other.input_tokens, share),
        output_tokens=_mixed(found.output_tokens, other.output_tokens, share),
        cost=None
        if found.cost is None or other.cost is None
        else found.cost * (1 - share) + other.cost * share,
        most_tokens=max(found.most_tokens, other.most_tokens),
        most_cost=None
        if found.most_cost is None or other.most_cost is None
        else max(found.most_cost, other.most_cost),
        challenger=f"{other.provider} {other.model}",
        share=versions.share,
    )


def _mixed(champion: int, challenger: int, share: Decimal) -> int:
    return round(champion * (1 - share) + challenger * share)


def _estimate_version(
    agent: AgentDefinition,
    posts: Sequence[Post],
    words: str,
    left: Sequence[RemainingBudget],
    scope: str,
) -> Estimate:
    try:
        choice = choose_provider(agent.llm_config, agent.id)
    except ProviderError as error:
        return Estimate(len(posts), left=left, problem=str(error))
    if choice.provider == DEMO_PROVIDER:
        nothing = Decimal(0)
        return Estimate(
            len(posts), DEMO_PROVIDER, DEMO_PROVIDER, cost=nothing, most_cost=nothing, left=left
        )
    habit, most_out = _habit(agent), agent.llm_config.options.max_tokens or DEFAULT_ANSWER_TOKENS
    # A run without tools sends one request, and another for each refused answer.
    tries = settings.CMS_ENV.agent_step_cap if agent.llm_config.use_mcp else 1 + MAX_RETRIES
    sizes = _sizes(agent, posts, words, scope)
    probable = [_cost(choice, size, habit.requests, habit.output_tokens) for size in sizes]
    most = [_cost(choice, size, tries, tries * most_out) for size in sizes]
    return Estimate(
        posts=len(posts),
        provider=choice.provider,
        model=choice.model,
        input_tokens=sum(sizes) * habit.requests,
        output_tokens=len(sizes) * habit.output_tokens,
        cost=_sum(probable),
        most_tokens=(sum(sizes) + len(sizes) * most_out) * tries,
        most_cost=_sum(most),
        is_from_history=habit.is_known,
        left=left,
    )


def _cost(choice: ProviderChoice, size: int, requests: int, output_tokens: int) -> Decimal | None:
    """Return the cost of one run. Long inputs can have another price, so each run is computed separately."""
    one = cost_of(choice, size, -(-output_tokens // requests))
    return None if one is None else one * requests


def _sum(costs: Sequence[Decimal | None]) -> Decimal | None:
    known = [cost for cost in costs if cost is not None]
    # A sum of known costs only would be too low.
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def _habit(agent: AgentDefinition) -> _Habit:
    """Return the medians of the agent's last successful runs. One query."""
    rows = (
        AgentRun.objects.filter(agent_id=agent.id, status=RunStatus.SUCCEEDED, output_tokens__gt=0)
        .annotate(requests=Count("steps", filter=Q(steps__kind="model")))
        .order_by("-created_at")
        .values_list("requests", "output_tokens")[:_RUNS]
    )
    found = list(rows)
    if not found:
        most = agent.llm_config.options.max_tokens or DEFAULT_ANSWER_TOKENS
        return _Habit(1, round(most * SHARE_OF_MOST), is_known=False)
    requests = max(1, round(median(row[0] for row in found)))
    return _Habit(requests, round(median(row[1] for row in found)), is_known=True)


def _sizes(agent: AgentDefinition, posts: Sequence[Post], words: str, scope: str) -> list[int]:
    """Return the input tokens of the first request for each post. Five queries."""
    run = AgentRun(agent_id=agent.id, scope=scope, open_ended_context=words)
    documents = [layers.ai_review.document for layers in open_layers_of_many(posts)]
    ids = {
        module.instance_id
        for document in documents
        for module in document.modules
        if module.scope == "global"
    }
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    shared: dict[str, JsonObject] = {str(pk): props for pk, props in rows}
    briefs = load_briefs()
    allowed = fields_of_run(agent, run)
    schemas: dict[tuple[str, frozenset[str]], int] = {}
    tools = sum(
        len(tool.description) + len(json.dumps(lean_schema(tool.arguments)))
        for tool in listed_tools(agent)
    )
    sizes: list[int] = []
    for post, document in zip(posts, documents, strict=True):
        modules: list[Json] = []
        for index, module in enumerate(document.modules):
            value = module.to_json(index)
            if module.scope == "global":
                value["props"] = shared.get(module.instance_id, {})
            modules.append(value)
        # Approximates the payload that the run will send.
        context: JsonObject = {"openEndedContext": words}
        payload = {**document.to_json(), "modules": modules, "context": context}
        brief = briefs.effective(post_type=post.type, locale=post.locale, section=post.path)
        kinds = (document.type, frozenset(module.type for module in document.modules))
        if kinds not in schemas:
            schema = answer_type(run.scope, allowed, document).model_json_schema()
            schemas[kinds] = len(json.dumps(schema))
        characters = (
            tools
            + schemas[kinds]
            + len(system_prompt(agent, run, document, brief=brief.to_markdown()))
            + len(run_message(agent, run, document, payload))
        )
        sizes.append(-(-characters // CHARACTERS_PER_TOKEN))
    return sizes
