"""Tells whether AI wrote what is staged: by the mark, or by the account that wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from content.layers.state import Mark
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role

AI_DOORS: Final = frozenset({"mcp", "agent"})
"""The doors that only AI comes through."""


def agent_accounts(marks: Iterable[Mark]) -> set[int]:
    """Which of the writers are accounts made for agents, whatever door they came through. At most one query."""
    ids = {mark.user_id for mark in marks if not mark.is_ai and mark.user_id is not None}
    if not ids:
        return set()
    return set(User.objects.filter(pk__in=ids, role=Role.AI_AGENT).values_list("pk", flat=True))


def is_ais(mark: Mark, agents: set[int]) -> bool:
    """Return whether the words are AI's; `agents` is of `agent_accounts`."""
    return mark.is_ai or mark.user_id in agents
