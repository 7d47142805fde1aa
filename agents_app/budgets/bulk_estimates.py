"""The estimate of one agent on many posts, with the posts that it could not run on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from agents_app.batches.creation import RejectedPost, agent_for, canonical_id
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
