"""Event types of archives."""

from __future__ import annotations

from typing import Final

from proofroom.core.caching.cache_tags import REDIRECTS, SITE
from proofroom.core.json import JsonObject
from proofroom.core.outbox.events import EventKind
from proofroom.core.outbox.live_effects import LiveEffect

EXPORTED: Final = "archive.exported"
IMPORTED: Final = "archive.imported"


def _effect(payload: JsonObject) -> LiveEffect:
    # An archive may bring anything, settings and redirects too.
    return LiveEffect("import", (SITE, REDIRECTS))


KINDS = (
    EventKind(EXPORTED, "Content exported as an archive", "settings.manage"),
    EventKind(IMPORTED, "Archive imported", "settings.manage", is_live=True, effect=_effect),
)
