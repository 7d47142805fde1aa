"""Goals that visitors reached on the pages of the site, such as a form that was taken, told to apps above content."""

from __future__ import annotations

import logging
from uuid import UUID

from django.http import HttpRequest

from proofroom.core.hooks import Hook

logger = logging.getLogger(__name__)

goal_listeners: Hook[[HttpRequest, UUID | None, str], None] = Hook()
"""Called with the request of the visitor, the post that was shown, where it was one, and the goal."""


def report_goal(request: HttpRequest, *, post_id: UUID | None, goal: str) -> None:
    """Tell of a goal. What a listener runs into is logged: the visitor did what they wanted, and is told so."""
    for listener in goal_listeners:
        try:
            listener(request, post_id, goal)
        except Exception:
            logger.exception("the goal %s is not counted", goal)
