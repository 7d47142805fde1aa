"""One run, for whoever may see it."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext as _

from agents_app.models import AgentRun
from core.actor import Actor
from core.errors import NotFound


def find_run(*, run_id: UUID | str, actor: Actor) -> AgentRun:
    """A run, for whoever may see agents. Raises `NotFound`."""
    actor.require("agents.view")
    try:
        run = AgentRun.objects.filter(pk=UUID(str(run_id))).first()
    except ValueError:
        run = None
    if run is None:
        raise NotFound(_("No run has the id %(run_id)s.") % {"run_id": str(run_id)[:80]})
    return run
