"""One agent on many posts: a run for each. What cannot be run is said by id, and tells nothing of what is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import transaction

from agents_app.definitions.schema import Scope
from agents_app.definitions.switches import enabled_agent
from agents_app.models import AgentRun
from agents_app.runs.given import check_words
from agents_app.runs.starting import check_scope, create_run
from core.actor import Actor
from core.errors import CmsError, invalid

MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Rejected:
    """A post that got no run, by the id that was sent."""

    id: str
    error: str


@dataclass(frozen=True, slots=True)
class BulkRuns:
    runs: Sequence[AgentRun]
    rejected: Sequence[Rejected]


@transaction.atomic
def create_bulk_runs(
    *, agent_id: str, post_ids: Sequence[str], actor: Actor, open_ended_context: str | None = None
) -> BulkRuns:
    """Begin a run on each post, once however often it is named.

    What is wrong with the agent or the words refuses all: raises as `create_run`. What is wrong with one post
    rejects that one; unknown, deleted and malformed ids are answered alike.
    """
    actor.require("posts.view")
    actor.require("agents.edit")
    agent = enabled_agent(agent_id)
    check_scope(agent, Scope.BULK)
    check_words(agent, None, open_ended_context)
    if not 1 <= len(post_ids) <= MOST:
        raise invalid("ids", f"ids names from 1 to {MOST} posts.")
    runs: list[AgentRun] = []
    rejected: list[Rejected] = []
    for id_ in dict.fromkeys(_plain(id_) for id_ in post_ids):
        try:
            runs.append(
                create_run(
                    agent_id=agent_id,
                    scope=Scope.BULK,
                    actor=actor,
                    post_id=id_,
                    open_ended_context=open_ended_context,
                )
            )
        except CmsError as error:
            rejected.append(Rejected(id_, error.message))
    return BulkRuns(runs, rejected)


def _plain(id_: str) -> str:
    """One id in one form, so that two forms of it are one post."""
    try:
        return str(UUID(id_))
    except ValueError:
        return id_[:80]
