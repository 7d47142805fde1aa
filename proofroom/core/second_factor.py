"""Check whether a session satisfies the second-factor requirement of its account's role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

SECOND_FACTOR_KEY: Final = "has_second_factor"
"""Session key that is True if the user logged in with a second factor."""


class SecondFactorUser(Protocol):
    @property
    def must_use_second_factor(self) -> bool: ...


def lacks_second_factor(user: SecondFactorUser, session: Mapping[str, Any]) -> bool:
    """Return whether the role requires a second factor that this session was not opened with."""
    return not session.get(SECOND_FACTOR_KEY) and user.must_use_second_factor
