"""What one attempt at a run works on, as it stands when the attempt begins."""

from __future__ import annotations

from dataclasses import dataclass

from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.switches import account_of, enabled_agent
from agents_app.models import AgentRun
from agents_app.running.fields import FieldTarget, find_field
from agents_app.running.owning import own
from agents_app.running.unjudged import holds_unjudged
from agents_app.runs.narrowing import actor_of
from content.layers import Layers, open_layers
from content.models import Post
from core.actor import Actor
from core.errors import NotAllowed, NotFound


@dataclass(slots=True)
class Task:
    """`post`, `layers` and `target` are there where the run is about a post, and about a field of it."""

    run: AgentRun
    agent: AgentDefinition
    actor: Actor
    post: Post | None
    layers: Layers | None
    target: FieldTarget | None


def prepare(run: AgentRun) -> Task:
    """What the run needs. Raises `NotFound` or `NotAllowed` where something of it is gone."""
    agent = enabled_agent(run.agent_id)
    account = account_of(agent)
    if account is None:
        raise NotAllowed(
            f"The account of the agent {agent.id} is switched off, so it cannot write."
        )
    if run.post_id is None:
        return Task(run, agent, actor_of(run, agent, account), None, None, None)
    post = Post.objects.filter(pk=run.post_id, deleted_at__isnull=True).first()
    if post is None:
        raise NotFound("The post was deleted before the run began.")
    layers = open_layers(post)
    if not run.has_read_untrusted and holds_unjudged(layers):
        run.has_read_untrusted = True
        own(run).update(has_read_untrusted=True)
    actor = actor_of(run, agent, account)
    target = None
    if run.scope == "field":
        target = find_field(layers.ai_review.document, run.field_key, run.post_module_id or None)
    return Task(run, agent, actor, post, layers, target)
