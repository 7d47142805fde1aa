"""Whether a session is enough for the role of its account, which may have to log in with a second factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

SECOND_FACTOR_KEY: Final = "has_second_factor"
"""In a session: whether whoever opened it has a second factor."""


class SecondFactorUser(Protocol):
    @property
    def must_use_second_factor(self) -> bool: ...


def lacks_second_factor(user: SecondFactorUser, session: Mapping[str, Any]) -> bool:
    """Return whether the role of the account asks for a second factor that this session was not opened with."""
    return not session.get(SECOND_FACTOR_KEY) and user.must_use_second_factor
