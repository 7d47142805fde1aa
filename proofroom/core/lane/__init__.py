"""The database role of agents and AI clients, which can write neither live content nor Review.

Apps declare in `lane_rights.py` what the role may do with each table, and the functions that lead further. On
PostgreSQL, `manage.py install_lane` turns the declarations into grants, row-level security and functions.
"""

from __future__ import annotations

from proofroom.core.lane.rights import (
    LaneFunction,
    LaneTrigger,
    Rows,
    TableRights,
    hidden,
    lockable,
    readable,
    writable,
)
from proofroom.core.lane.session import ROLE, is_lane

__all__ = [
    "ROLE",
    "LaneFunction",
    "LaneTrigger",
    "Rows",
    "TableRights",
    "hidden",
    "is_lane",
    "lockable",
    "readable",
    "writable",
]
