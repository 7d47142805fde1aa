"""Who stands behind a credential that was let in."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_bridge.access.principals import Principal


@dataclass(frozen=True, slots=True)
class Account:
    """The account behind a credential. With another role it is another."""

    id: int
    role: str


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """A credential that was let in, and who stood behind it then."""

    principal: Principal
    account: Account
