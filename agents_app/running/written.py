"""What the tools of a run write in AI Review, remembered with what stood there before, in the same transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from agents_app.models import AgentRun, RunPost
from content.layers import Before, LayerView
from content.layers.hooks import before_layer_staged
from content.models import Layer, Post
from core.actor import Actor
from core.errors import NotAllowed

_calling: ContextVar[AgentRun | None] = ContextVar("run_calling", default=None)


@contextmanager
def remembering(run: AgentRun) -> Iterator[None]:
    """In the block, what is staged for the run can be taken back with it."""
    token = _calling.set(run)
    try:
        yield
    finally:
        _calling.reset(token)


def remember(view: LayerView, post: Post, actor: Actor, paths: Sequence[str]) -> None:
    """Note the post, once what AI Review held, and all that is written in it.

    Raises `NotAllowed` for a run that is to stage nothing.
    """
    run = _calling.get()
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


def paths_by_tools(run: AgentRun) -> list[str]:
    """What the tools of a run staged in its own post."""
    if run.post_id is None:
        return []
    rows = RunPost.objects.filter(run=run, post_id=run.post_id)
    return [path for paths in rows.values_list("paths", flat=True) for path in paths]


def connect() -> None:
    """Look at every proposal. Called once, at start."""
    before_layer_staged.register(remember)
