"""Undo of runs: what stood in AI Review before a run wrote there, and taking back what it staged or brought live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.models import AgentRun, RunPost
from agents_app.runs.queries import find_run
from agents_app.runs.run_log import record_run, system_actor
from content.layers import Before, LayerView, revert_run, take_back_run
from content.layers.revert import Reverted
from content.models import Layer, Post
from content.posts.trash import discard_proposed
from content.store.layer_state import before_layer_staged
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation

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


def take_back(run: AgentRun) -> None:
    """Take what the run's tools staged out of AI Review, and put posts that they made into the trash.

    What people or other runs did there since stays; a post that they touched stays whole. Call it in the
    transaction that ends the run, or that gives it to another worker. Safe to call twice.
    """
    rows = {row.post_id: row for row in RunPost.objects.filter(run=run)}
    if not rows:
        return
    actor = system_actor(run)
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


@dataclass(slots=True)
class UndoneRun:
    """The paths of all posts of a run: taken back from live content, kept because somebody changed them, and no
    longer staged. `posts` has them by post; `deleted` are posts that the run made and nobody touched."""

    posts: dict[UUID, Reverted] = field(default_factory=dict)
    deleted: list[UUID] = field(default_factory=list)

    @property
    def reverted(self) -> tuple[str, ...]:
        return tuple(path for done in self.posts.values() for path in done.reverted)

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(path for done in self.posts.values() for path in done.kept)

    @property
    def unstaged(self) -> tuple[str, ...]:
        return tuple(path for done in self.posts.values() for path in done.unstaged)


@transaction.atomic
def undo_run(*, run_id: UUID | str, actor: Actor) -> UndoneRun:
    """Take back everything of a run, live and staged, save what people changed since.

    Raises `NotFound`, `NotAllowed`, and `RuleViolation` (`nothing_to_revert`) where there is nothing of it.
    """
    actor.require_person("revert")
    actor.require("posts.revisions.manage")
    run = find_run(run_id=run_id, actor=actor)
    undone = UndoneRun()
    made = dict(RunPost.objects.filter(run=run).values_list("post_id", "is_made"))
    if run.post_id is not None:
        made.setdefault(run.post_id, False)
    # In the order in which everybody locks posts.
    alive = Post.objects.filter(pk__in=made, deleted_at__isnull=True).order_by("pk")
    for post_id in alive.values_list("pk", flat=True):
        if made[post_id] and discard_proposed(post_id=post_id, run_id=str(run.pk), actor=actor):
            undone.deleted.append(post_id)
            continue
        try:
            undone.posts[post_id] = revert_run(post_id=post_id, run_id=str(run.pk), actor=actor)
        except RuleViolation as error:
            if error.code != "nothing_to_revert":
                raise
    if not undone.posts and not undone.deleted:
        raise RuleViolation(
            _("The run %(pk)s has no changes that can be undone.") % {"pk": run.pk},
            code="nothing_to_revert",
        )
    AgentRun.objects.filter(pk=run.pk).update(reverted_at=timezone.now())
    record_run("reverted", run, actor)
    return undone
