"""Runs of agents, their results and usage, and the settings of agents. Definitions are files, not rows."""

from agents_app.models.evaluation import (
    ChampionChallenger,
    Evaluation,
    EvaluationItem,
    ItemState,
)
from agents_app.models.run import (
    RUNS_CHANNEL,
    UNFINISHED,
    AgentBatch,
    AgentRun,
    PromptVersion,
    ReactionStatus,
    RunMessage,
    RunPost,
    RunReaction,
    RunStatus,
    RunStep,
    StoppedChain,
)
from agents_app.models.settings import (
    AgentSwitch,
    AiSettings,
    Budget,
    BudgetNotice,
    CheckOutcome,
    ProviderCheck,
    Reservation,
    Spending,
)

__all__ = [
    "RUNS_CHANNEL",
    "UNFINISHED",
    "AgentBatch",
    "AgentRun",
    "AgentSwitch",
    "AiSettings",
    "Budget",
    "BudgetNotice",
    "ChampionChallenger",
    "CheckOutcome",
    "Evaluation",
    "EvaluationItem",
    "ItemState",
    "PromptVersion",
    "ProviderCheck",
    "ReactionStatus",
    "Reservation",
    "RunMessage",
    "RunPost",
    "RunReaction",
    "RunStatus",
    "RunStep",
    "Spending",
    "StoppedChain",
]
