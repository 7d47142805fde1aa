"""People in an archive: named by their e-mail address, agents by their id. Nothing else of an account is in it."""

from __future__ import annotations

from typing import Final

from proofroom.accounts.models import User
from proofroom.accounts.roles import Role

AGENT: Final = "agent:"


def reference_of(email: str, agent_id: str) -> str:
    return f"{AGENT}{agent_id}" if agent_id else email.lower()


def all_references() -> dict[int, str]:
    """The reference of every account, by id. One query."""
    rows = User.objects.values_list("pk", "email", "agent_id", "role")
    return {
        pk: reference_of(email, agent_id if role == Role.AI_AGENT else "")
        for pk, email, agent_id, role in rows
    }
