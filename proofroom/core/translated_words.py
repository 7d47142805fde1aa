"""Texts that the activity log combines into sentences, for the admin's message catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from proofroom.core.outbox.events import all_kinds

_VERBS: Final = ("created", "changed", "updated", "deleted", "imported", "moved")
"""Verbs of `content.changed`."""
_OBJECTS: Final = (
    *("content", "form", "global module", "menu", "redirect", "term", "taxonomy term"),
    *("URL pattern",),
)
"""Kinds of objects of `content.changed`."""


def words() -> Iterator[str]:
    """Yield the labels of events and the texts of changes without their own event."""
    yield from (kind.label for kind in all_kinds())
    yield from (*_VERBS, *_OBJECTS)
