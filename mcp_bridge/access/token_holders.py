"""The holders of accepted credentials."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_bridge.access.principals import Principal


@dataclass(frozen=True, slots=True)
class Account:
    """The account of a credential. After a change of its role it compares unequal."""

    id: int
    role: str


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """An accepted credential, and its account at that time."""

    principal: Principal
    account: Account
