"""What the database role of agents may do with accounts and their credentials."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden, readable, writable

_OF_AGENT: Final = "role = 'ai_agent' AND agent_id <> '' AND starts_with(password, '!')"
"""Accounts of agents, which cannot log in. A run makes the account of its agent if it has none."""

RIGHTS: Final = (
    *writable("proofroom_accounts.User", inserts=True, rows=_OF_AGENT),
    *readable(
        "proofroom_accounts.SiteRole", "proofroom_accounts.Preferences", "account.EmailAddress"
    ),
    *hidden(
        "proofroom_accounts.ApiToken",
        "proofroom_accounts.DeliveryToken",
        "proofroom_accounts.LoginDevice",
        "proofroom_accounts.Invitation",
        "account.EmailConfirmation",
        "mfa.Authenticator",
        "usersessions.UserSession",
        "socialaccount.SocialApp",
        "socialaccount.SocialAccount",
        "socialaccount.SocialToken",
    ),
)
