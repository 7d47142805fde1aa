"""Marks around what stands in a prompt as data, which no content can close: they are different for each attempt."""

from __future__ import annotations

from typing import Final

from django.utils.crypto import salted_hmac

from agents_app.models import AgentRun
from core.json import Json, JsonObject

UNTRUSTED: Final = "untrusted"
"""The key of a run's context that holds what visitors wrote."""
_MARK_LENGTH: Final = 16


def mark_of(run: AgentRun) -> str:
    """The word that stands in every mark of this attempt. Nobody knows it who has not read this prompt."""
    return salted_hmac("agents.fence", f"{run.pk}:{run.attempt}").hexdigest()[:_MARK_LENGTH]


def fence(run: AgentRun, text: str) -> str:
    """Content as data."""
    mark = mark_of(run)
    return f"BEGIN {mark}\n{text}\nEND {mark}"


def fence_untrusted(run: AgentRun, text: str) -> str:
    """What visitors or other sites wrote, as data that nobody vouches for."""
    mark = mark_of(run)
    return f"UNTRUSTED BEGIN {mark}\n{text}\nUNTRUSTED END {mark}"


def without_untrusted(payload: JsonObject) -> tuple[JsonObject, Json]:
    """The payload without what visitors wrote, and that; None where there is nothing of them."""
    context = payload.get("context")
    if not isinstance(context, dict) or UNTRUSTED not in context:
        return payload, None
    trusted = {name: value for name, value in context.items() if name != UNTRUSTED}
    return {**payload, "context": trusted}, context[UNTRUSTED]
