"""Begin a run once, however often its form is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from django.db import IntegrityError, transaction

from agents_app.models import AgentRun
from core.actor import Actor


def begin_once(
    token: str,
    *,
    actor: Actor,
    wish: Mapping[str, str],
    start: Callable[[UUID | None], AgentRun],
) -> AgentRun:
    """Begin a run under the id that its form came with, or answer the one that was begun under it.

    `wish` is what the form says, by the fields of the run. A form that went back to and sent with another wish, and
    one without an id, each begin a run of their own.
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
            # The same form came a second time while the first was under way.
            found = AgentRun.objects.filter(pk=id_).first()
            if found is None:
                raise
    is_same = found.by_id == actor.user.pk and all(
        getattr(found, name) == value.strip() for name, value in wish.items()
    )
    return found if is_same else start(None)
