"""Points where apps above the engine can refuse that content goes live.

Functions that are registered raise `RuleViolation` to refuse, and must not query for post types without their rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from content.document.changes import Change
from content.document.document import PostDocument
from content.models import Post
from proofroom.core.hooks import Hook

STEPS_OPEN: Final = "steps_open"
"""Code of the refusal of content that has not passed its editorial steps. It names no field."""

before_publication: Final[Hook[[Post, Callable[[], PostDocument]], None]] = Hook()
"""Called in the transaction before a post is published or gets a date for it. The function loads its content."""

before_approval: Final[Hook[[Post, Sequence[Change]], None]] = Hook()
"""Called in the transaction before changes in Review are approved or scheduled, with these changes as staged."""

before_live_edit: Final[Hook[[Post, PostDocument, PostDocument], None]] = Hook()
"""Called in the transaction before live content is changed without an approval, with the content before and after."""

changes_approved: Final[Hook[[Post, PostDocument], None]] = Hook()
"""Called in the transaction after an approval was written, with the live content before."""

PlannedApproval = tuple[Post, Sequence[Change]]
"""A post, and those of its changes in Review that are to be approved later."""

approval_obstacles: Final[Hook[[Sequence[PlannedApproval]], Sequence[str]]] = Hook()
"""Called to tell in advance why `before_approval` would refuse. Returns a text for each, empty if it would not."""

publication_obstacles: Final[Hook[[Sequence[Post]], Sequence[str]]] = Hook()
"""Called to tell in advance why `before_publication` would refuse. Returns a text for each, empty if it would not."""


def find_approval_obstacles(planned: Sequence[PlannedApproval]) -> list[str]:
    """Return why each approval would be refused now, empty if it would not."""
    return _first_texts(approval_obstacles(planned), len(planned))


def find_publication_obstacles(posts: Sequence[Post]) -> list[str]:
    """Return why the publication of each post would be refused now, empty if it would not."""
    return _first_texts(publication_obstacles(posts), len(posts))


def _first_texts(answers: Sequence[Sequence[str]], number: int) -> list[str]:
    return [next((texts[at] for texts in answers if texts[at]), "") for at in range(number)]
