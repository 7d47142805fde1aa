"""Undo of runs: the state of AI Review before a run, and the revert of its staged and live changes."""

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
from content.layers import Before, LayerView, revert_run, withdraw_run
from content.layers.revert import Reverted
from content.models import Layer, Post
from content.posts.trash import discard_proposed
from content.store.layer_state import before_layer_staged
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation

_recorded_run: ContextVar[AgentRun | None] = ContextVar("run_calling", default=None)


@contextmanager
def undo_recording(run: AgentRun) -> Iterator[None]:
    """In the block, changes staged for the run are recorded for undo."""
    token = _recorded_run.set(run)
    try:
        yield
    finally:
        _recorded_run.reset(token)


def record_before_write(view: LayerView, post: Post, actor: Actor, paths: Sequence[str]) -> None:
    """Store the previous state of AI Review once, and all paths written by the run.

    Raises `NotAllowed` for a run that must not stage anything.
    """
    run = _recorded_run.get()
    # Writes of other actors in the same context are not the run's.
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
            # A proposed post gets its first draft in the transaction that creates it.
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
    """Record every proposal. Called once, at start."""
    before_layer_staged.register(record_before_write)


def take_back(run: AgentRun) -> None:
    """Remove the changes staged by the run's tools from AI Review, and move posts they created to the
    trash.

    Later changes by people or other runs stay, and so do posts they edited. Call it in the
    transaction that ends the run, or that gives it to another worker. Idempotent.
    """
    rows = {row.post_id: row for row in RunPost.objects.filter(run=run)}
    if not rows:
        return
    actor = system_actor(run)
    # Ordered by primary key, like all code that locks posts. Posts in the trash retain their
    # layers.
    alive = Post.objects.filter(pk__in=rows, deleted_at__isnull=True).order_by("pk")
    for post_id in alive.values_list("pk", flat=True):
        row = rows[post_id]
        if row.is_made:
            discard_proposed(post_id=post_id, run_id=str(run.pk), actor=actor)
            continue
        withdraw_run(
            post_id=post_id,
            run_id=str(run.pk),
            actor=actor,
            before=Before.from_json(row.before) if row.before is not None else None,
            paths=row.paths,
        )
    # The next attempt must record the current state.
    RunPost.objects.filter(run=run).delete()


@dataclass(slots=True)
class UndoneRun:
    """The paths of all posts of a run: reverted in live content, retained because of later edits, and
    no longer staged. `posts`: the same by post; `deleted`: posts the run created and no one edited.
    """

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
    """Revert all changes of a run, live and staged, except later edits.

    Raises `NotFound`, `NotAllowed`, and `RuleViolation` (`nothing_to_revert`) if there are none.
    """
    actor.require_person("revert")
    actor.require("posts.revisions.manage")
    run = find_run(run_id=run_id, actor=actor)
    undone = UndoneRun()
    made = dict(RunPost.objects.filter(run=run).values_list("post_id", "is_made"))
    if run.post_id is not None:
        made.setdefault(run.post_id, False)
    # Ordered by primary key, like all code that locks posts.
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
