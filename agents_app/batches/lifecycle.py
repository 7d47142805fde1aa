"""The life of a batch, one agent on many posts: estimate, runs, cancellation and revert.

Rejected posts are named by id only, so that callers learn nothing about posts they may not see.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.batches.queries import find_batch
from agents_app.definitions.agents import enabled_agent
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import UNFINISHED, AgentBatch, AgentRun, RunStatus
from agents_app.runs.creation import check_context, check_scope, create_run
from agents_app.runs.estimates import Estimate, estimate
from agents_app.runs.lifecycle import lock_posts
from agents_app.runs.run_log import record_run
from agents_app.runs.undo import take_back, undo_run
from content.models import Post
from proofroom.core import outbox
from proofroom.core.actor import Actor, Via
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import CmsError, Conflict, invalid
from proofroom.core.json import JsonObject
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.core.validation.input_validation import parse_uuid

logger = logging.getLogger(__name__)
MAX_POSTS: Final = 100


def estimate_payload(agent: AgentDefinition, runs: Sequence[AgentRun], words: str) -> JsonObject:
    """Return the estimated and maximum tokens and cost; empty without runs or without a provider."""
    posts = [run.post for run in runs if run.post is not None]
    if not posts:
        return {}
    found = estimate(agent, posts, words)
    if found.problem:
        return {}
    return {
        "inputTokens": found.input_tokens,
        "outputTokens": found.output_tokens,
        "cost": float(found.cost) if found.cost is not None else None,
        "mostCost": float(found.most_cost) if found.most_cost is not None else None,
    }


@dataclass(frozen=True, slots=True)
class RejectedPost:
    """A post without a run, by the id that was sent."""

    id: str
    error: str


@dataclass(frozen=True, slots=True)
class BulkRuns:
    batch: AgentBatch
    runs: Sequence[AgentRun]
    rejected: Sequence[RejectedPost]


@transaction.atomic
def create_bulk_runs(
    *, agent_id: str, post_ids: Sequence[str], actor: Actor, open_ended_context: str | None = None
) -> BulkRuns:
    """Create a batch with one run on each distinct post.

    An error about the agent or the instructions refuses the whole batch: raises as `create_run`. An
    error about a post rejects that post only; unknown, deleted and malformed ids get the same
    answer.
    """
    agent = require_bulk_agent(agent_id, post_ids, actor, open_ended_context)
    batch = AgentBatch.objects.create(
        agent_id=agent.id,
        open_ended_context=open_ended_context or "",
        by_id=actor.user.pk,
        by_name=actor.user.username,
    )
    runs: list[AgentRun] = []
    rejected: list[RejectedPost] = []
    for post_id in dict.fromkeys(canonical_id(id_) for id_ in post_ids):
        try:
            run = create_run(
                agent_id=batch.agent_id,
                scope=Scope.BULK,
                actor=actor,
                post_id=post_id,
                open_ended_context=batch.open_ended_context or None,
                batch=batch,
            )
            runs.append(run)
        except CmsError as error:
            rejected.append(RejectedPost(post_id, error.message))
    batch.rejected = [{"id": one.id, "error": one.error} for one in rejected]
    batch.estimate = estimate_payload(agent, runs, open_ended_context or "")
    batch.save(update_fields=["rejected", "estimate"])
    record_batch("created", batch, actor, runs=len(runs), rejected=len(rejected))
    return BulkRuns(batch, runs, rejected)


def require_bulk_agent(
    agent_id: str, post_ids: Sequence[str], actor: Actor, open_ended_context: str | None
) -> AgentDefinition:
    """Return the agent after checking permission, scope, instructions and the number of posts.

    Raises as `create_bulk_runs`.
    """
    actor.require("posts.view")
    actor.require("agents.edit")
    agent = enabled_agent(agent_id)
    check_scope(agent, Scope.BULK)
    check_context(agent, None, open_ended_context)
    if not 1 <= len(post_ids) <= MAX_POSTS:
        raise invalid("ids", _("ids must list 1 to %(most)s posts.") % {"most": MAX_POSTS})
    return agent


def canonical_id(id_: str) -> str:
    """Return the id in canonical form, so that different spellings count as one post."""
    # Malformed ids are cut, because they are stored and returned with the rejection.
    return str(parse_uuid(id_) or id_[:80])


@dataclass(frozen=True, slots=True)
class BulkEstimate:
    agent: AgentDefinition
    estimate: Estimate
    rejected: Sequence[RejectedPost]


def estimate_bulk(
    *, agent_id: str, post_ids: Sequence[str], actor: Actor, open_ended_context: str | None = None
) -> BulkEstimate:
    """Estimate `create_bulk_runs` with these arguments, with the same errors. Starts nothing."""
    agent = require_bulk_agent(agent_id, post_ids, actor, open_ended_context)
    wanted = dict.fromkeys(canonical_id(id_) for id_ in post_ids)
    ids: list[UUID] = []
    for id_ in wanted:
        with suppress(ValueError):
            ids.append(UUID(id_))
    posts = Post.objects.alive().in_bulk(ids)
    found = {str(pk) for pk in posts}
    missing = [id_ for id_ in wanted if id_ not in found]
    return BulkEstimate(
        agent,
        estimate(agent, list(posts.values()), open_ended_context or ""),
        [RejectedPost(id_, f"No post has the ID {id_}.") for id_ in missing],
    )


RESEND_AFTER: Final = timedelta(seconds=60)


def record_batch(what: str, batch: AgentBatch, actor: Actor, **numbers: int) -> None:
    """Record an event about a batch in the caller's transaction."""
    payload: JsonObject = {"id": str(batch.pk), "agentId": batch.agent_id, **numbers}
    outbox.record(f"agent.batch.{what}", actor=actor, payload=payload)


@transaction.atomic
def cancel_batch(*, batch_id: UUID | str, actor: Actor) -> AgentBatch:
    """Cancel all unfinished runs of a batch in one transaction. Raises `Conflict` (`batch_finished`)
    if there are none.
    """
    actor.require_person("cancel a batch")
    actor.require("agents.edit")
    batch = find_batch(batch_id=batch_id, actor=actor)
    now = timezone.now()
    unfinished = AgentRun.objects.filter(batch=batch, status__in=UNFINISHED)
    # Lock the posts before the runs, in the same order as tools that write.
    lock_posts(*unfinished.filter(status=RunStatus.RUNNING))
    rows = list(unfinished.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    if not rows:
        raise Conflict(_("All runs in this batch have finished."), code="batch_finished")
    unfinished.filter(pk__in=[run.pk for run in rows]).update(
        status=RunStatus.CANCELLED, finished_at=now, doing=""
    )
    for run in rows:
        # A run that was never claimed has changed nothing.
        if run.attempts:
            take_back(run)
        run.status = RunStatus.CANCELLED
        record_run("cancelled", run, actor)
    batch.cancelled_at = now
    batch.save(update_fields=["cancelled_at"])
    record_batch("cancelled", batch, actor, runs=len(rows))
    return batch


@transaction.atomic
def revert_batch(*, batch_id: UUID | str, actor: Actor) -> AgentBatch:
    """Request the revert of a batch. The results of its runs are stored on the batch.

    A repeated request retries the failed runs. Raises `Conflict` (`batch_unfinished`).
    """
    actor.require_person("take back a batch")
    actor.require("agents.edit")
    actor.require("posts.revisions.manage")
    batch = find_batch(batch_id=batch_id, actor=actor)
    # Two requests at once must not both start the revert.
    batch = AgentBatch.objects.select_for_update(no_key=True).get(pk=batch.pk)
    if AgentRun.objects.filter(batch=batch, status__in=UNFINISHED).exists():
        raise Conflict(_("This batch is still running. Cancel it first."), code="batch_unfinished")
    # The revert is pending already; a second message is not needed.
    if batch.revert_asked_at is not None and batch.reverted_at is None:
        return batch
    batch.revert_asked_at, batch.reverted_at = timezone.now(), None
    batch.revert_by_id, batch.revert_via = actor.user.pk, actor.via
    # Results with an error are removed, so that these runs are tried again.
    batch.reverted = {
        run_id: result for run_id, result in batch.reverted.items() if not result.get("error")
    }
    batch.save(
        update_fields=["revert_asked_at", "reverted_at", "revert_by", "revert_via", "reverted"]
    )
    record_batch("reverted", batch, actor, runs=batch.runs.count())
    send_after_commit(lambda: send_revert(batch.pk), f"batch {batch.pk}")
    return batch


def send_revert(batch_id: UUID) -> None:
    queue_task("agents_app.tasks.revert_batch", str(batch_id))


def revert_batch_runs(batch_id: UUID) -> None:
    """Revert the runs of a batch that are not reverted yet. Idempotent."""
    runs = AgentRun.objects.filter(batch_id=batch_id)
    # Latest first, because a later run may have changed what an earlier one wrote.
    for run_id in runs.order_by("-created_at").values_list("pk", flat=True):
        # One transaction for each run, so that finished work survives a worker's death.
        with transaction.atomic():
            waiting = AgentBatch.objects.filter(
                revert_asked_at__isnull=False, reverted_at__isnull=True
            )
            # The lock keeps two workers from reverting the same run.
            batch = waiting.select_for_update(no_key=True).filter(pk=batch_id).first()
            if batch is None:
                return
            if str(run_id) not in batch.reverted:
                batch.reverted[str(run_id)] = revert_run(batch, run_id)
                batch.save(update_fields=["reverted"])
    AgentBatch.objects.filter(
        pk=batch_id, revert_asked_at__isnull=False, reverted_at__isnull=True
    ).update(reverted_at=timezone.now())


def revert_run(batch: AgentBatch, run_id: UUID) -> JsonObject:
    found: JsonObject = {"reverted": [], "kept": [], "unstaged": [], "error": ""}
    via: Via = "admin" if batch.revert_via == "admin" else "api"
    if batch.revert_by is None:
        return found | {"error": "The account that asked for the undo no longer exists."}
    try:
        # A savepoint, so that a failed revert leaves the caller's transaction usable.
        with transaction.atomic():
            done = undo_run(run_id=run_id, actor=Actor(user=batch.revert_by, via=via))
    except CmsError as error:
        if error.code != "nothing_to_revert":
            return found | {"error": error.message}
        in_trash = AgentRun.objects.filter(pk=run_id, post__deleted_at__isnull=False).exists()
        return found | {
            "error": _("The post is in the trash. Restore it first.") if in_trash else ""
        }
    except DATABASE_UNREACHABLE:
        raise  # the sweep goes on with it
    except Exception:
        # One run that cannot be reverted must not stop the others.
        logger.exception("run %s of batch %s cannot be undone", run_id, batch.pk)
        return found | {"error": _("Something went wrong; the log says what.")}
    return found | {
        "reverted": list(done.reverted),
        "kept": list(done.kept),
        "unstaged": list(done.unstaged),
    }


def requeue_stalled_reverts() -> int:
    """Queue stalled reverts again, after a lost message or a dead worker. Return their number. Called
    by the sweep.
    """
    late = AgentBatch.objects.filter(
        revert_asked_at__lt=timezone.now() - RESEND_AFTER, reverted_at__isnull=True
    )
    # A few per sweep, because each may start many writes.
    ids = list(late.values_list("pk", flat=True)[:10])
    for batch_id in ids:
        send_revert(batch_id)
    return len(ids)
