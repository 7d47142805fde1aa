"""References to people in an archive: the email of a person, the id of an agent. Nothing else is exported."""

from __future__ import annotations

from typing import Final

from proofroom.accounts.models import User
from proofroom.accounts.roles import Role

AGENT: Final = "agent:"


def reference_of(email: str, agent_id: str) -> str:
    return f"{AGENT}{agent_id}" if agent_id else email.lower()


def all_references() -> dict[int, str]:
    """Return the references of all accounts, by account id. One query."""
    rows = User.objects.values_list("pk", "email", "agent_id", "role")
    return {
        # An account that had the role of an agent before is now a person's, and is referenced by email.
        pk: reference_of(email, agent_id if role == Role.AI_AGENT else "")
        for pk, email, agent_id, role in rows
    }
