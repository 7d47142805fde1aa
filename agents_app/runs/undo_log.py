"""The undo log of a run: what stood in AI Review before its tools wrote there, and taking it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from agents_app.models import AgentRun, RunPost
from content.layers import Before, LayerView, take_back_run
from content.layers.state import before_layer_staged
from content.models import Layer, Post
from content.posts.trash import discard_proposed
from proofroom.core.actor import Actor, Visitor
from proofroom.core.errors import NotAllowed

_recorded_run: ContextVar[AgentRun | None] = ContextVar("run_calling", default=None)


@contextmanager
def undo_recording(run: AgentRun) -> Iterator[None]:
    """In the block, what is staged for the run can be taken back with it."""
    token = _recorded_run.set(run)
    try:
        yield
    finally:
        _recorded_run.reset(token)


def record_before_write(view: LayerView, post: Post, actor: Actor, paths: Sequence[str]) -> None:
    """Note the post, once what AI Review held, and all that is written in it.

    Raises `NotAllowed` for a run that is to stage nothing.
    """
    run = _recorded_run.get()
    if run is None or actor.run_id != str(run.pk) or view.layer != Layer.AI_REVIEW:
        return
    if not run.stages_value:
        raise NotAllowed(
            "This run only answers a value; nothing of it is staged.", code="only_answers"
        )
    row, is_first = RunPost.objects.get_or_create(
        run=run,
        post=post,
        defaults={
            # A post that is proposed gets its first draft in the transaction that makes it.
            "is_made": post.is_placeholder and view.draft is None,
            "before": Before.of(view).to_json() if view.exists else None,
            "paths": list(paths),
        },
    )
    if not is_first:
        row.paths = sorted({*row.paths, *paths})
        row.save(update_fields=["paths"])


def paths_written(run: AgentRun) -> list[str]:
    """Return the paths that the tools of a run staged in its own post."""
    if run.post_id is None:
        return []
    rows = RunPost.objects.filter(run=run, post_id=run.post_id)
    return [path for paths in rows.values_list("paths", flat=True) for path in paths]


def register_undo_log() -> None:
    """Look at every proposal. Called once, at start."""
    before_layer_staged.register(record_before_write)


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
    # In the order in which everybody locks posts; what is in the trash keeps its layers as they are.
    alive = Post.objects.filter(pk__in=rows, deleted_at__isnull=True).order_by("pk")
    for post_id in alive.values_list("pk", flat=True):
        row = rows[post_id]
        if row.is_made:
            discard_proposed(post_id=post_id, run_id=str(run.pk), actor=actor)
            continue
        take_back_run(
            post_id=post_id,
            run_id=str(run.pk),
            actor=actor,
            before=Before.from_json(row.before) if row.before is not None else None,
            paths=row.paths,
        )
    # An attempt that follows starts from what stands now.
    RunPost.objects.filter(run=run).delete()
