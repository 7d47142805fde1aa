"""What the database role of agents may do with releases: read them, but not their preview links."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden, readable

RIGHTS: Final = (
    *readable(
        "proofroom_releases.Release",
        "proofroom_releases.ReleaseItem",
        "proofroom_releases.ReleaseRun",
    ),
    *hidden("proofroom_releases.ReleasePreviewLink"),
)
