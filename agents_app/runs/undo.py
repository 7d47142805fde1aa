"""Takes back what a run brought, wherever it wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.models import AgentRun, RunPost
from agents_app.runs.lifecycle import find_run, record_run
from content.layers import revert_run
from content.layers.revert import Reverted
from content.models import Post
from content.posts.trash import discard_proposed
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation


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
            _("The run %(pk)s has contributed nothing that stands.") % {"pk": run.pk},
            code="nothing_to_revert",
        )
    AgentRun.objects.filter(pk=run.pk).update(reverted_at=timezone.now())
    record_run("reverted", run, actor)
    return undone
