"""Takes back what the tools of a run staged, where the run brings nothing after all."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from agents_app.models import AgentRun, RunPost
from content.layers import Before, take_back_run
from content.models import Post
from content.services.trash import discard_proposed
from core.actor import Actor, Visitor

_SYSTEM: Final = Visitor(username="system", role="system")


def take_back(run: AgentRun) -> None:
    """Take what the run's tools staged out of AI Review, and put posts that they made into the trash.

    What people or other runs did there since stays; a post that they touched stays whole. Call it in the
    transaction that ends the run, or that gives it to another worker. Safe to call twice.
    """
    rows = {row.post_id: row for row in RunPost.objects.filter(run=run)}
    if not rows:
        return
    actor = Actor(
        user=_SYSTEM,
        via="system",
        agent_id=run.agent_id,
        run_id=str(run.pk),
        event_id=run.event_id,
        hop=run.hop + 1,
    )
    for post_id in _alive(rows):
        _take_back(rows[post_id], actor, str(run.pk))
    # An attempt that follows starts from what stands now.
    RunPost.objects.filter(run=run).delete()


def _alive(rows: dict[UUID, RunPost]) -> list[UUID]:
    """In the order in which everybody locks posts; what is in the trash keeps its layers as they are."""
    posts = Post.objects.filter(pk__in=rows, deleted_at__isnull=True)
    return list(posts.order_by("pk").values_list("pk", flat=True))


def _take_back(row: RunPost, actor: Actor, run_id: str) -> None:
    if row.is_made:
        discard_proposed(post_id=row.post_id, run_id=run_id, actor=actor)
        return
    take_back_run(
        post_id=row.post_id,
        run_id=run_id,
        actor=actor,
        before=Before.from_json(row.before) if row.before is not None else None,
        paths=row.paths,
    )
