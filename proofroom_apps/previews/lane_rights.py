"""What the database role of agents may do with preview links."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import writable

RIGHTS: Final = writable("proofroom_previews.PreviewLink", inserts=True, deletes=True)
