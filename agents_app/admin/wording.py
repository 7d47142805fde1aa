"""Agents and their runs in words: names, models, durations, money."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from agents_app.definitions.files import get_agent
from agents_app.models import AgentRun

_DEMO: Final = "demo"
_SMALLEST: Final = Decimal("0.0001")


def agent_name(agent_id: str) -> str:
    """The name of an agent; its id where there is no such agent any more."""
    agent = get_agent(agent_id)
    return agent.name if agent else agent_id


def is_demo(run: AgentRun) -> bool:
    return run.provider == _DEMO


def model_label(run: AgentRun) -> str:
    """What answered, in words. The demo provider is no model and says so."""
    if is_demo(run):
        return "Demo (no AI)"
    return " ".join(part for part in (run.provider, run.model) if part)


def duration(run: AgentRun) -> str:
    """How long a finished run took, in words; empty for one that is not finished or never began."""
    if run.started_at is None or run.finished_at is None:
        return ""
    seconds = max((run.finished_at - run.started_at).total_seconds(), 0.0)
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def money(amount: Decimal | None) -> str:
    """US dollars, with as many digits as say something; empty for an unknown price."""
    if amount is None:
        return ""
    if 0 < amount < _SMALLEST:
        return f"less than ${_SMALLEST}"
    return f"${amount:,.2f}" if amount == 0 or amount >= 1 else f"${amount:.4f}"


def tokens(number: int) -> str:
    """How many tokens, in words."""
    return f"{number:,} token{'' if number == 1 else 's'}"
