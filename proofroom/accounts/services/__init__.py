"""Writes accounts: people, the accounts that agents write under, and API tokens."""

from proofroom.accounts.services.agents import (
    agent_switches,
    agent_user,
    ensure_agent_user,
    is_switched_off,
    rename_agent_user,
    system_agent_user,
)
from proofroom.accounts.services.users import change_user, create_user, set_password

__all__ = [
    "agent_switches",
    "agent_user",
    "change_user",
    "create_user",
    "ensure_agent_user",
    "is_switched_off",
    "rename_agent_user",
    "set_password",
    "system_agent_user",
]
