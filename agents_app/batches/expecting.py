"""What a batch is expected to use, kept with it so that it can be compared with what it did use."""

from __future__ import annotations

from collections.abc import Sequence

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from core.json import JsonObject


def expected_of(agent: AgentDefinition, runs: Sequence[AgentRun], words: str) -> JsonObject:
    """Tokens and money, about and at most; empty where nothing runs."""
    return {}
