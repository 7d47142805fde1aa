"""Agents that are mentioned in comments: their runs, and their answers in the thread."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from agents_app.definitions.agents import account_of, agents_for, get_agent, switched
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.creation import create_run
from agents_app.runs.permissions import START_PERMISSIONS, run_actor
from content.layers import open_layers
from content.models import Post
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.agent_directory import agent_name
from proofroom.core.errors import CmsError
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom_apps.comments.mentions import (
    AgentCall,
    MentionChoice,
    StartedRun,
    agent_mentioned,
    agents_to_mention,
)
from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.services import answer_mention

_ENDED: Final = ("agent.run.finished", "agent.run.cancelled")


def subscribe_to_mentions() -> None:
    """Call once, at start."""
    agent_mentioned.register(start_mentioned_agent)
    agents_to_mention.register(agents_for_comments)
    outbox.subscribe(_ENDED, answer_in_thread, id="agents_app.comment_mentions.answer")


def agents_for_comments(actor: Actor, post: Post) -> list[MentionChoice]:
    """Return the agents that the actor may run on a post or its fields. One query, none without the permission."""
    scopes = [
        scope
        for scope in (Scope.DROPDOWN, Scope.FIELD)
        if actor.can(START_PERMISSIONS[scope], post)
    ]
    if not scopes:
        return []
    found = {agent.id: agent for scope in scopes for agent in agents_for(scope)}
    switches = switched()
    return [
        MentionChoice("agent", f"@agent:{agent.id}", agent_name(agent.id))
        for agent in found.values()
        if switches.get(agent.id, agent.enabled)
    ]


def start_mentioned_agent(call: AgentCall) -> StartedRun:
    """Start the agent on the field of the comment, or on its post, with the rights of who wrote the comment."""
    thread = call.comment.parent or call.comment
    post = thread.post
    if post is None:
        return StartedRun(problem=_("Agents only work on posts."))
    agent = get_agent(call.agent_id)
    takes_words = agent is not None and agent.open_ended_context.enabled
    request: JsonObject = {"comment": call.words}
    if thread.quote:
        request["passage"] = thread.quote
    try:
        field_key, module_id = _field_of(post, thread)
        # A refused run must not undo the comment.
        with transaction.atomic():
            run = create_run(
                agent_id=call.agent_id,
                scope=Scope.FIELD if field_key else Scope.DROPDOWN,
                actor=call.actor,
                post_id=post.pk,
                context=request,
                open_ended_context=call.words if takes_words and call.words else None,
                field_key=field_key,
                post_module_id=module_id,
            )
    except CmsError as error:
        return StartedRun(problem=error.message)
    return StartedRun(run_id=run.pk)


def _field_of(post: Post, thread: Comment) -> tuple[str | None, str | None]:
    """Return the key of the commented field for agents, and its module; None for a comment on the whole post."""
    kind, _dot, rest = (thread.path or thread.change_path).partition(".")
    if kind == "post" and rest != "taxonomyTermIds":
        return f"post.{rest}", None
    module_id, _dot, place = rest.partition(".")
    part, _dot, name = place.partition(".")
    if kind != "modules" or part not in ("props", "overrides") or not name:
        return None, None
    module = open_layers(post).ai_review.document.module(module_id)
    return (f"module.{module.type}.{name}", module_id) if module is not None else (None, None)


def answer_in_thread(event: Event) -> None:
    """Reply with the outcome of a run that a comment started. Idempotent."""
    run = AgentRun.objects.filter(pk=str(event.payload.get("id"))).first()
    if run is None:
        return
    agent = get_agent(run.agent_id)
    account = account_of(agent) if agent is not None else None
    actor = run_actor(run, agent, account) if agent is not None and account is not None else None
    answer_mention(run_id=run.pk, body=_outcome(run), actor=actor)


def _outcome(run: AgentRun) -> str:
    if run.status == RunStatus.CANCELLED:
        return _("The run was cancelled.")
    if run.status != RunStatus.SUCCEEDED:
        return _("The run failed: %(error)s") % {"error": run.error}
    if run.has_read_untrusted:
        # Its words may repeat instructions of visitors, and other agents read the thread.
        return _("Done. The answer is on the page of the run, because it may quote visitors.")
    if run.declined:
        return run.declined
    if run.staged:
        return run.summary or _("My proposal is in AI Review.")
    return run.summary or _("I propose no change.")
