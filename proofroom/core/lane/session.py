"""Whether this process connects under the role of agents."""

from __future__ import annotations

from typing import Final

from django.db import connection

ROLE: Final = "proofroom_lane"
SCHEMA: Final = "proofroom_lane"
"""Schema of the role's functions. The role owns nothing in it and cannot create anything there."""


def is_lane() -> bool:
    """Return whether the database refuses this process all writes of live content and Review."""
    user: str = connection.settings_dict["USER"]
    return user == ROLE
