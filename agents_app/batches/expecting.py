"""What a batch is expected to use, kept with it so that it can be compared with what it did use."""

from __future__ import annotations

from collections.abc import Sequence

from agents_app.budgets.estimating import estimate
from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from core.json import JsonObject


def expected_of(agent: AgentDefinition, runs: Sequence[AgentRun], words: str) -> JsonObject:
    """Tokens and money, about and at most; empty where nothing runs, or nothing would answer."""
    posts = [run.post for run in runs if run.post is not None]
    if not posts:
        return {}
    found = estimate(agent, posts, words)
    if found.problem:
        return {}
    return {
        "inputTokens": found.input_tokens,
        "outputTokens": found.output_tokens,
        "cost": float(found.cost) if found.cost is not None else None,
        "mostCost": float(found.most_cost) if found.most_cost is not None else None,
    }
