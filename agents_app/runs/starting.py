"""Runs as rows: begun, read, cancelled. `runner.py` does what they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from agents_app.definitions.schema import EVENT_SCOPES, AgentDefinition, Scope
from agents_app.definitions.switches import enabled_agent
from agents_app.models import AgentBatch, AgentRun
from agents_app.runs.events import record_run
from agents_app.runs.given import check_field, check_words, module_id_of
from agents_app.runs.narrowing import narrow
from agents_app.runs.queue import wake
from agents_app.runs.stopping import check_hop, tells_of_stops
from content.models import Post
from core.actor import Actor
from core.errors import NotAllowed, NotFound, invalid
from core.json import JsonObject
from core.models import Event

PERMISSIONS: Final[Mapping[str, str]] = {
    Scope.DROPDOWN: "agents.dropdown",
    Scope.FIELD: "agents.field",
    Scope.GLOBAL: "agents.global",
    Scope.BULK: "agents.edit",
}
"""What a person needs to start a run by hand."""


@tells_of_stops
@transaction.atomic
def create_run(
    *,
    agent_id: str,
    scope: str,
    actor: Actor,
    post_id: UUID | str | None = None,
    context: JsonObject | None = None,
    open_ended_context: str | None = None,
    field_key: str | None = None,
    post_module_id: str | None = None,
    stages_value: bool = True,
    event: Event | None = None,
    position: int = 0,
    batch: AgentBatch | None = None,
    again: AgentRun | None = None,
    note: str = "",
    run_id: UUID | None = None,
) -> AgentRun:
    """Begin a run; a worker takes it up after the commit.

    `event` is what triggered it, `position` its place among the runs of that event. With `stages_value` False
    a field's value is only answered. `again` is the finished run that this one repeats, `note` what was said of it,
    `run_id` the id that it is to have.
    Raises `NotAllowed` (`agent_not_in_scope` among others), `NotFound` for an agent that is unknown or off and for a
    post that is deleted, `RuleViolation` on the argument that is wrong.
    """
    if scope not in list(Scope):
        raise invalid(
            "scope",
            _("%(scope)r is no scope; known: %(scope_2)s.")
            % {"scope": scope[:60], "scope_2": ", ".join(Scope)},
        )
    _check_right(actor, scope, event, has_post=post_id is not None, is_again=again is not None)
    agent = enabled_agent(agent_id)
    check_scope(agent, scope)
    post = _post(post_id, scope)
    if post is not None:
        actor.require_inside(post.translation_group)
    post_module_id = module_id_of(post_module_id)
    check_field(agent, scope, post, field_key, post_module_id)
    check_words(agent, context, open_ended_context)
    check_hop(agent_id, event.hop if event else actor.hop)
    run = AgentRun(
        pk=run_id or uuid4(),
        agent_id=agent.id,
        scope=scope,
        post=post,
        field_key=field_key or "",
        post_module_id=post_module_id or "",
        stages_value=stages_value,
        context=context or {},
        open_ended_context=open_ended_context or "",
        batch=batch,
        note=note,
    )
    _sign(run, actor, event, position)
    if again is not None:
        _follow(run, again)
    run.save(force_insert=True)
    record_run("created", run, actor)
    wake(run.pk)
    return run


def _sign(run: AgentRun, actor: Actor, event: Event | None, position: int) -> None:
    """Write down who began the run, and what caused it."""
    run.via, run.event, run.position = actor.via, event, position
    run.by_id, run.by_name = actor.user.pk, actor.user.username
    caused_by = event.actor_id if event is not None else None
    by = User.objects.filter(pk=caused_by).first() if caused_by is not None else None
    if by is not None:
        run.by_id, run.by_name = by.pk, by.username
    run.hop = event.hop if event else actor.hop
    run.cause_run = _cause(event.run_id if event else actor.run_id)
    narrow(run, actor)


def _follow(run: AgentRun, again: AgentRun) -> None:
    """What a further try has of the one before: its first one, its batch, and that it met words of visitors."""
    run.first_try_id = again.first_try_id or again.pk
    run.batch_id = again.batch_id
    run.has_read_untrusted = run.has_read_untrusted or again.has_read_untrusted


def _check_right(
    actor: Actor, scope: str, event: Event | None, *, has_post: bool, is_again: bool
) -> None:
    actor.require("posts.view")
    if actor.is_person:
        # What an event began then, a person may begin now.
        begins_by_itself = scope in EVENT_SCOPES and not is_again
        if begins_by_itself:
            raise invalid(
                "scope",
                _("Runs of the scope %(scope)s begin by themselves, with its event.")
                % {"scope": scope},
            )
        actor.require(PERMISSIONS.get(scope, "agents.edit"))
        return
    actor.require("agents.view")
    # The run writes with the agent's rights, which must not be more than the caller's.
    if event is None and has_post and not actor.can("posts.ai-review.save"):
        actor.require("posts.edit")


def check_scope(agent: AgentDefinition, scope: str) -> None:
    """Raise `NotAllowed` (`agent_not_in_scope`) unless the agent runs in the scope."""
    if agent.entries(scope):
        return
    known = ", ".join(dict.fromkeys(entry.scope for entry in agent.scopes if entry.enabled))
    raise NotAllowed(
        _("The agent %(id)s does not run in the scope %(scope)s; its scopes are: %(known)s.")
        % {"id": agent.id, "scope": scope, "known": known or "none"},
        code="agent_not_in_scope",
    )


def _post(post_id: UUID | str | None, scope: str) -> Post | None:
    if post_id is None:
        if scope not in (Scope.GLOBAL, Scope.FORM_SUBMIT):
            raise invalid(
                "postId", _("A run in the scope %(scope)s needs a post.") % {"scope": scope}
            )
        return None
    try:
        found = Post.objects.filter(pk=UUID(str(post_id)), deleted_at__isnull=True).first()
    except ValueError:
        found = None
    if found is None:
        raise NotFound(_("No post has the id %(post_id)s.") % {"post_id": str(post_id)[:80]})
    return found


def _cause(run_id: str | None) -> AgentRun | None:
    try:
        return AgentRun.objects.filter(pk=UUID(run_id)).first() if run_id else None
    except ValueError:
        return None
