"""Runs of agents, what they did and used, what people set. Definitions are files, not rows."""

from agents_app.models.batch import AgentBatch
from agents_app.models.prompt import PromptVersion
from agents_app.models.provider_check import CheckOutcome, ProviderCheck
from agents_app.models.reaction import ReactionStatus, RunReaction, StoppedChain
from agents_app.models.run import UNFINISHED, AgentRun, RunPost, RunStatus
from agents_app.models.settings import (
    AgentSwitch,
    AiSettings,
    Budget,
    BudgetNotice,
    Reservation,
    Spending,
)
from agents_app.models.step import RunMessage, RunStep

__all__ = [
    "UNFINISHED",
    "AgentBatch",
    "AgentRun",
    "AgentSwitch",
    "AiSettings",
    "Budget",
    "BudgetNotice",
    "CheckOutcome",
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
