"""Begin a run once, however often its form is sent."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.db import IntegrityError, transaction

from agents_app.models import AgentRun
from core.actor import Actor


def begin_once(
    token: str, *, agent_id: str, note: str, actor: Actor, start: Callable[[UUID | None], AgentRun]
) -> AgentRun:
    """Begin a run under the id that its form came with, or answer the one that was begun under it.

    A form that went back to and sent with another agent or note is another wish, and so is one without an id: each
    begins a run of its own.
    """
    try:
        id_ = UUID(token)
    except ValueError:
        return start(None)
    found = AgentRun.objects.filter(pk=id_).first()
    if found is None:
        try:
            with transaction.atomic():
                return start(id_)
        except IntegrityError:
            # The same form came through another door a moment ago.
            found = AgentRun.objects.filter(pk=id_).first()
            if found is None:
                raise
    is_same = (found.by_id, found.agent_id, found.note) == (actor.user.pk, agent_id, note.strip())
    return found if is_same else start(None)
