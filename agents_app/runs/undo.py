"""Takes back what a run brought to its post."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from agents_app.runs.events import record_run
from agents_app.runs.finding import find_run
from content.layers import revert_run
from content.layers.revert import Reverted
from core.actor import Actor
from core.errors import RuleViolation


@transaction.atomic
def undo_run(*, run_id: UUID | str, actor: Actor) -> Reverted:
    """Take back everything of a run, live and staged, save what people changed since.

    Raises `NotFound`, `NotAllowed`, and `RuleViolation` (`nothing_to_revert`) where there is nothing of it.
    """
    actor.require("posts.revisions.manage")
    run = find_run(run_id=run_id, actor=actor)
    if run.post_id is None:
        raise RuleViolation(
            f"The run {run.pk} had no post, so it has contributed nothing.",
            code="nothing_to_revert",
        )
    reverted = revert_run(post_id=run.post_id, run_id=str(run.pk), actor=actor)
    record_run("reverted", run, actor)
    return reverted
