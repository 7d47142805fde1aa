"""What the database role of agents may do with releases: read them."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable

RIGHTS: Final = readable(
    "proofroom_releases.Release",
    "proofroom_releases.ReleaseItem",
    "proofroom_releases.ReleaseRun",
)
