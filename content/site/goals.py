"""What visitors reached on the pages of the site, such as a form that was taken, told to apps above content."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final
from uuid import UUID

from django.http import HttpRequest

logger = logging.getLogger(__name__)

Listener = Callable[[HttpRequest, UUID | None, str], None]
"""Of the call of the visitor, the post that was shown, where it was one, and the goal."""

_listeners: Final[dict[Listener, None]] = {}


def register(listener: Listener) -> None:
    """Have a function called for each goal that a visitor reaches."""
    _listeners[listener] = None


def reached(request: HttpRequest, *, post_id: UUID | None, goal: str) -> None:
    """Tell of a goal. What a listener runs into is logged: the visitor did what they wanted, and is told so."""
    for listener in _listeners:
        try:
            listener(request, post_id, goal)
        except Exception:
            logger.exception("the goal %s is not counted", goal)
