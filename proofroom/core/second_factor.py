"""Whether a session is enough for roles that must log in with a second factor (`TWO_FACTOR_ROLES`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings

from proofroom.core.actor import ActorUser

SECOND_FACTOR_KEY: Final = "has_second_factor"
"""In a session: whether whoever opened it has a second factor."""


def lacks_second_factor(user: ActorUser, session: Mapping[str, Any]) -> bool:
    """Return whether the role of the account asks for a second factor that this session was not opened with."""
    return user.role in settings.TWO_FACTOR_ROLES and not session.get(SECOND_FACTOR_KEY)
