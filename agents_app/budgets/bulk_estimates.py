"""The estimate of one agent on many posts, with the posts that it could not run on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agents_app.batches.creation import RejectedPost, agent_for
from agents_app.budgets.estimates import Estimate, estimate
from agents_app.definitions.schema import AgentDefinition
from content.models import Post
from core.actor import Actor


@dataclass(frozen=True, slots=True)
class BulkEstimate:
    agent: AgentDefinition
    estimate: Estimate
    rejected: Sequence[RejectedPost]


def estimate_bulk(
    *, agent_id: str, post_ids: Sequence[str], actor: Actor, open_ended_context: str | None = None
) -> BulkEstimate:
    """What `create_bulk_runs` of the same would probably use. Refuses and rejects as that does; nothing is begun."""
    agent = agent_for(agent_id, post_ids, actor, open_ended_context)
    wanted = dict.fromkeys(_plain(id_) for id_ in post_ids)
    posts = Post.objects.alive().in_bulk([id_ for id_ in wanted if isinstance(id_, UUID)])
    missing = [str(id_) for id_ in wanted if id_ not in posts]
    return BulkEstimate(
        agent,
        estimate(agent, list(posts.values()), open_ended_context or ""),
        [RejectedPost(id_, f"No post has the id {id_}.") for id_ in missing],
    )


def _plain(id_: str) -> UUID | str:
    """One id in one form, so that two forms of it are one post."""
    try:
        return UUID(id_)
    except ValueError:
        return id_[:80]
