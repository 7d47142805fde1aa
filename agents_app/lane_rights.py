"""What the database role of agents may do with agents, runs and budgets."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable, writable

RIGHTS: Final = (
    *writable("agents_app.PromptVersion", inserts=True),
    *writable("agents_app.AgentRun", inserts=True, updates=None),
    *writable("agents_app.RunPost", inserts=True, updates=("paths",), deletes=True),
    *writable("agents_app.RunStep", inserts=True, updates=("ok", "summary")),
    *writable("agents_app.RunMessage", inserts=True),
    *writable("agents_app.RunReaction", updates=None),
    *writable("agents_app.StoppedChain", inserts=True),
    *writable(
        "agents_app.Spending", inserts=True, updates=("tokens", "cost", "cached_tokens", "saved")
    ),
    *writable("agents_app.Reservation", inserts=True, deletes=True),
    *writable("agents_app.BudgetNotice", inserts=True),
    # The row of all agents, which every reservation locks.
    *writable(
        "agents_app.Budget",
        inserts=True,
        locks=True,
        new_rows=(
            "agent_id = '*' "
            "AND num_nonnulls(tokens_per_day, tokens_per_month, cost_per_day, cost_per_month) = 0"
        ),
    ),
    *writable("agents_app.ProviderCheck", updates=None),
    *writable("agents_app.ProviderPause", inserts=True, updates=("ends_at",)),
    *writable("agents_app.Evaluation", updates=None),
    *writable("agents_app.EvaluationItem", updates=None),
    *readable(
        "agents_app.AgentBatch",
        "agents_app.AgentSwitch",
        "agents_app.AiSettings",
        "agents_app.ChampionChallenger",
    ),
)
