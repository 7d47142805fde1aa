"""Words that the activity log shows and no sentence of it holds, for the catalogue of the admin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from proofroom.core.outbox.events import all_kinds

_DONE: Final = ("created", "changed", "updated", "deleted", "imported", "moved")
"""What `content.changed` says of a thing."""
_CHANGED: Final = (
    *("content", "form", "global module", "menu", "redirect", "term", "taxonomy term"),
    *("URL pattern",),
)
"""And of which things it says it."""


def words() -> Iterator[str]:
    """Yield what happens, by the names of events, and what is said of changes that have no event of their own."""
    yield from (kind.label for kind in all_kinds())
    yield from (*_DONE, *_CHANGED)
