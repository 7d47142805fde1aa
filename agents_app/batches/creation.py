"""Creation of batches, one agent on many posts with a run for each, and the estimate before it.

Posts that cannot be run on are named by id, which tells nothing of what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from agents_app.batches.lifecycle import record_batch
from agents_app.budgets.estimates import Estimate, estimate
from agents_app.definitions.agents import enabled_agent
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentBatch, AgentRun
from agents_app.runs.creation import check_context, check_scope, create_run
from content.models import Post
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, invalid
from proofroom.core.json import JsonObject

MAX_POSTS: Final = 100


def expected_of(agent: AgentDefinition, runs: Sequence[AgentRun], words: str) -> JsonObject:
    """Tokens and money, about and at most; empty where nothing runs, or nothing would answer."""
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
    """A post that got no run, by the id that was sent."""

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
    """Begin a run on each post, once however often it is named, as one batch.

    What is wrong with the agent or the words refuses all: raises as `create_run`. What is wrong with one post
    rejects that one; unknown, deleted and malformed ids are answered alike.
    """
    agent = agent_for(agent_id, post_ids, actor, open_ended_context)
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
    batch.estimate = expected_of(agent, runs, open_ended_context or "")
    batch.save(update_fields=["rejected", "estimate"])
    record_batch("created", batch, actor, runs=len(runs), rejected=len(rejected))
    return BulkRuns(batch, runs, rejected)


def agent_for(
    agent_id: str, post_ids: Sequence[str], actor: Actor, open_ended_context: str | None
) -> AgentDefinition:
    """The agent that is to work on so many posts with such words. Raises as `create_bulk_runs` does."""
    actor.require("posts.view")
    actor.require("agents.edit")
    agent = enabled_agent(agent_id)
    check_scope(agent, Scope.BULK)
    check_context(agent, None, open_ended_context)
    if not 1 <= len(post_ids) <= MAX_POSTS:
        raise invalid("ids", _("ids names from 1 to %(most)s posts.") % {"most": MAX_POSTS})
    return agent


def canonical_id(id_: str) -> str:
    """Return an id in one form, so that two forms of it are one post."""
    try:
        return str(UUID(id_))
    except ValueError:
        return id_[:80]


@dataclass(frozen=True, slots=True)
class BulkEstimate:
    agent: AgentDefinition
    estimate: Estimate
    rejected: Sequence[RejectedPost]


def estimate_bulk(
    *, agent_id: str, post_ids: Sequence[str], actor: Actor, open_ended_context: str | None = None
) -> BulkEstimate:
    """Estimate the use of `create_bulk_runs` with these arguments. Refuses and rejects like it; begins nothing."""
    agent = agent_for(agent_id, post_ids, actor, open_ended_context)
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
        [RejectedPost(id_, f"No post has the id {id_}.") for id_ in missing],
    )
