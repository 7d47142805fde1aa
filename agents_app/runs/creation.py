"""Creation of runs, after checking rights and input; also of dry runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from agents_app.definitions.agents import enabled_agent, scope_of_agent
from agents_app.definitions.schema import EVENT_SCOPES, AgentDefinition, Scope
from agents_app.models import AgentBatch, AgentRun
from agents_app.runs.chain import check_hop_limit, records_stopped_chains
from agents_app.runs.field_scope import check_only_fields, only_fields
from agents_app.runs.field_target import find_field
from agents_app.runs.lifecycle import wake
from agents_app.runs.permissions import START_PERMISSIONS, listed_tools, narrow_rights
from agents_app.runs.run_log import record_run
from content.layers import open_layers
from content.models import Post
from content.store.scopes import is_in_scope, require_in_scope
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotAllowed, NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.validation.input_validation import parse_uuid, reject_unstorable

MAX_CONTEXT_CHARACTERS: Final = 50_000
MAX_OPEN_ENDED_CHARACTERS: Final = 20_000
MAX_FIELD_KEY_CHARACTERS: Final = AgentRun._meta.get_field("field_key").max_length or 0


def parse_module_id(post_module_id: str | None) -> str | None:
    """Return the id of a module in canonical form. Raises `RuleViolation` if it is not a UUID."""
    if post_module_id is None:
        return None
    id_ = parse_uuid(post_module_id)
    if id_ is None:
        raise invalid("postModuleId", _("postModuleId must be a UUID."))
    return str(id_)


def check_field(
    agent: AgentDefinition,
    scope: str,
    post: Post | None,
    field_key: str | None,
    post_module_id: str | None,
) -> None:
    """Raise `RuleViolation` or `NotAllowed` unless the field fits the scope, exists and is served by the agent."""
    if scope != Scope.FIELD:
        if field_key is not None:
            raise invalid("fieldKey", _("fieldKey belongs to the scope field."))
        return
    if not field_key or post is None:
        raise invalid("fieldKey", _("A run in the scope field needs fieldKey, such as post.title."))
    if len(field_key) > MAX_FIELD_KEY_CHARACTERS:
        raise invalid(
            "fieldKey",
            _("fieldKey can have at most %(field_key_max)s characters.")
            % {"field_key_max": MAX_FIELD_KEY_CHARACTERS},
        )
    reject_unstorable(field_key, "fieldKey")
    target = find_field(open_layers(post).ai_review.document, field_key, post_module_id)
    if not any(
        entry.serves(field_type=target.field_type, field_key=field_key, form_slug=None)
        for entry in agent.entries(Scope.FIELD)
    ):
        raise NotAllowed(
            _("The agent %(id)s does not work on the field %(field_key)s.")
            % {"id": agent.id, "field_key": field_key},
            code="agent_not_in_scope",
        )


def check_context(
    agent: AgentDefinition, context: JsonObject | None, open_ended: str | None
) -> None:
    """Raise `RuleViolation` on `context`, a path in it, or `openEndedContext`."""
    reject_unstorable(context, "context")
    if context and len(json.dumps(context)) > MAX_CONTEXT_CHARACTERS:
        raise invalid(
            "context",
            _("At most %(context_max)s characters of JSON are allowed.")
            % {"context_max": f"{MAX_CONTEXT_CHARACTERS:,}"},
        )
    if open_ended is None:
        return
    rule = agent.open_ended_context
    if not rule.enabled:
        raise invalid(
            "openEndedContext",
            _("The agent %(id)s does not accept your own instructions.") % {"id": agent.id},
        )
    reject_unstorable(open_ended, "openEndedContext")
    most = min(rule.max_chars or MAX_OPEN_ENDED_CHARACTERS, MAX_OPEN_ENDED_CHARACTERS)
    if len(open_ended) > most:
        raise invalid(
            "openEndedContext",
            _("It has %(number)s characters; at most %(most)s are allowed.")
            % {"number": f"{len(open_ended):,}", "most": f"{most:,}"},
        )


@records_stopped_chains
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
    """Create a run; a worker starts it after the commit.

    `event`: the trigger; `position`: its place among the runs of that event. If `stages_value` is
    False, a field's value is returned but not staged. `again`: the finished run to repeat; `note`:
    the comment on it; `run_id`: the id to use.

    Raises `NotAllowed` (`agent_not_in_scope` among others), `NotFound` for an agent that is unknown
    or off and for a deleted post, `RuleViolation` on the invalid argument.
    """
    if scope not in list(Scope):
        raise invalid(
            "scope",
            _("%(scope)r is not a scope. Available: %(scope_2)s.")
            % {"scope": scope[:60], "scope_2": ", ".join(Scope)},
        )
    _check_right(actor, scope, event, has_post=post_id is not None, is_again=again is not None)
    agent = enabled_agent(agent_id)
    check_scope(agent, scope)
    post = _post(post_id, scope)
    if post is not None:
        # The actor of an event is the agent itself. Its content scope is checked below.
        if event is None:
            require_in_scope(post, actor)
        if not is_in_scope(post, scope_of_agent(agent.id)):
            raise NotAllowed(
                _("The agent %(agent)s is limited to other content.") % {"agent": agent.name},
                code="outside_of_scope",
            )
        actor.require_inside(post.translation_group)
    post_module_id = parse_module_id(post_module_id)
    check_field(agent, scope, post, field_key, post_module_id)
    check_context(agent, context, open_ended_context)
    check_only_fields(post, context)
    check_hop_limit(agent_id, event.hop if event else actor.hop)
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
    if only_fields(run.context):
        # Only the answer is limited to these fields, so tools that write are excluded.
        reading = {tool.name for tool in listed_tools(agent) if tool.kind == "read"}
        run.tools = sorted(reading if run.tools is None else reading & set(run.tools))
    if again is not None:
        # A retry belongs to the first try and its batch, and may contain visitors' texts of the
        # previous one.
        run.first_try_id = again.first_try_id or again.pk
        run.batch_id = again.batch_id
        run.has_read_untrusted = run.has_read_untrusted or again.has_read_untrusted
    # With a given id, a plain save could overwrite the run of another request.
    run.save(force_insert=True)
    record_run("created", run, actor)
    wake(run.pk, run.event_id)
    return run


def _sign(run: AgentRun, actor: Actor, event: Event | None, position: int) -> None:
    """Store who started the run, and its cause."""
    run.via, run.event, run.position = actor.via, event, position
    run.by_id, run.by_name = actor.user.pk, actor.user.username
    caused_by = event.actor_id if event is not None else None
    by = User.objects.filter(pk=caused_by).first() if caused_by is not None else None
    if by is not None:
        run.by_id, run.by_name = by.pk, by.username
    run.hop = event.hop if event else actor.hop
    run.cause_run = find_by_id(AgentRun.objects, event.run_id if event else actor.run_id)
    narrow_rights(run, actor)


def _check_right(
    actor: Actor, scope: str, event: Event | None, *, has_post: bool, is_again: bool
) -> None:
    actor.require("posts.view")
    if actor.is_person:
        # Users may repeat a run that was started by an event.
        begins_by_itself = scope in EVENT_SCOPES and not is_again
        if begins_by_itself:
            raise invalid(
                "scope",
                _("Runs in the scope %(scope)s start automatically with their event.")
                % {"scope": scope},
            )
        actor.require(START_PERMISSIONS.get(scope, "agents.edit"))
        return
    actor.require("agents.view")
    # The run writes with the agent's rights, which must not exceed the caller's.
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
    found = find_by_id(Post.objects.filter(deleted_at__isnull=True), post_id)
    if found is None:
        raise NotFound(_("No post has the ID %(post_id)s.") % {"post_id": str(post_id)[:80]})
    return found


def create_once(
    token: str,
    *,
    actor: Actor,
    wish: Mapping[str, str],
    start: Callable[[UUID | None], AgentRun],
) -> AgentRun:
    """Start a run with the id from its form, or return the run that already has it.

    `wish`: the form's values by field of the run. A form without an id, or sent again with other
    values, starts another run.
    """
    id_ = parse_uuid(token)
    if id_ is None:
        return start(None)
    found = AgentRun.objects.filter(pk=id_).first()
    if found is None:
        try:
            with transaction.atomic():
                return start(id_)
        except IntegrityError:
            # The same form was submitted twice at the same time.
            found = AgentRun.objects.filter(pk=id_).first()
            if found is None:
                raise
    is_same = found.by_id == actor.user.pk and all(
        getattr(found, name) == value.strip() for name, value in wish.items()
    )
    return found if is_same else start(None)


_DRY_RUN_SCOPES: Final = (Scope.DROPDOWN, Scope.BULK, Scope.GLOBAL)


def dry_run_scope(agent: AgentDefinition) -> Scope | None:
    """Return the scope for dry runs of an agent; None if it only serves fields or events."""
    return next((scope for scope in _DRY_RUN_SCOPES if agent.entries(scope)), None)


@transaction.atomic
def start_dry_run(
    *, agent_id: str, post_id: UUID | str, actor: Actor, open_ended_context: str | None = None
) -> AgentRun:
    """Start a dry run on a post. It costs as much as a run, has only reading tools and no reactions.

    Raises as `create_run`, and `RuleViolation` for an agent that users cannot start on a post.
    """
    actor.require_person("try an agent out")
    actor.require("agents.edit")
    agent = enabled_agent(agent_id)
    scope = dry_run_scope(agent)
    if scope is None:
        raise invalid(
            "agentId",
            _("The agent %(id)s only runs in fields or on events, so it cannot be tested here.")
            % {"id": agent.id},
            code="agent_not_in_scope",
        )
    run = create_run(
        agent_id=agent.id,
        scope=scope,
        actor=actor,
        post_id=post_id,
        open_ended_context=open_ended_context,
        stages_value=False,
    )
    run.is_dry = True
    run.tools = sorted(tool.name for tool in listed_tools(agent) if tool.kind == "read")
    run.save(update_fields=["is_dry", "tools"])
    return run
