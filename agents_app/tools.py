"""Tools for AI clients: agents, their runs, and the registered names of this site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

from pydantic import Field

from agents_app import (
    images,  # noqa: F401  # its tool registers itself
    presenters,
)
from agents_app.definitions.agents import agents_for, all_agents, only_enabled
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.creation import create_run
from agents_app.runs.lifecycle import MAX_WAIT_SECONDS, cancel_run, wait_for_run
from agents_app.runs.queries import find_run
from content.tools.arguments import PostId, require_post_id
from forms.queries import titles_of_forms
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.progress import CallCancelled, check_cancelled
from proofroom.core.tools import Arguments, NoArguments, Result, tool
from proofroom.core.tools.call import note_untrusted
from proofroom.core.tools.pagination import Paged, ToolPage, page
from proofroom.definitions import modules, post_types, taxonomies


class ListAgents(Paged):
    scope: str | None = Field(None, max_length=80)
    field_key: str | None = Field(None, max_length=300)
    field_type: str | None = Field(None, max_length=80)
    form_slug: str | None = Field(None, max_length=200)


class ListedAgent(Result):
    id: str
    name: str
    description: str
    scopes: list[dict[str, Any]]
    open_ended_context: dict[str, Any]


class AgentPage(ToolPage):
    items: list[ListedAgent]


class ReadRun(Result):
    """A run as in the REST API, without empty values."""

    id: str
    agent_id: str
    scope: str
    status: str
    created_at: str
    usage: dict[str, int]
    staged: list[str]
    steps: list[dict[str, Any]]
    summary: str | None = None
    declined: str | None = None
    budget_warnings: list[str] | None = Field(
        None, description="Budgets that are nearly or completely used up, in sentences."
    )
    post_id: str | None = None
    error: str | None = None


class RunAgent(Arguments):
    agent_id: str
    post_id: PostId | None = None
    scope: str = Scope.DROPDOWN.value
    context: dict[str, Any] | None = None
    open_ended_context: str | None = None
    wait: int = Field(default=0, ge=0, le=MAX_WAIT_SECONDS)


class RunFieldAgent(Arguments):
    agent_id: str
    post_id: PostId
    field_key: str = Field(description="post.title or module.hero.title")
    post_module_id: str | None = None
    current_value: Any = None
    open_ended_context: str | None = None
    context: dict[str, Any] | None = None
    apply_to_ai_review: bool = False
    wait: int = Field(default=MAX_WAIT_SECONDS, ge=0, le=MAX_WAIT_SECONDS)


class GetAgentRun(Arguments):
    run_id: str


@tool(title="List agents", kind="read", permission="agents.view", group="agents", result=AgentPage)
def list_agents(actor: Actor, arguments: ListAgents) -> JsonObject:
    """List the agents that are turned on, all or by scope, field or form, in their order."""
    scope = arguments.scope
    if scope is not None and scope not in list(Scope):
        raise invalid("scope", f"{scope[:60]!r} is no scope; known: {', '.join(Scope)}.")
    found = (
        all_agents()
        if scope is None
        else agents_for(scope, arguments.field_type, arguments.field_key, arguments.form_slug)
    )
    return page(
        arguments,
        "list_agents",
        only_enabled(list(found)),
        lambda agent: cast("JsonObject", presenters.agent(agent)),
    )


@tool(
    title="Run an agent",
    kind="open",
    permission="agents.view",
    group="agents",
    waits=True,
    costs=True,
)
def run_agent(actor: Actor, arguments: RunAgent) -> JsonObject:
    """Run an agent on a post. Its proposals go to AI Review. Returns the run; wait up to 60 seconds
    for its result, or read it later with get_agent_run.
    """
    if arguments.scope == Scope.FIELD:
        raise invalid("scope", "For a single field use run_field_agent.")
    with _teaching():
        post = arguments.post_id
        run = create_run(
            agent_id=arguments.agent_id,
            scope=arguments.scope,
            actor=actor,
            post_id=None if post is None else require_post_id(post, actor),
            context=arguments.context,
            open_ended_context=arguments.open_ended_context,
        )
    return _answered(_waited_for(run, actor, arguments.wait))


@tool(
    title="Run an agent on a field",
    kind="open",
    permission="agents.view",
    group="agents",
    waits=True,
    costs=True,
)
def run_field_agent(actor: Actor, arguments: RunFieldAgent) -> JsonObject:
    """Have an agent propose a value for one field. It is only returned unless applyToAiReview also stages it."""
    context = dict(arguments.context or {})
    # An explicit null is a value: the field is empty in the client's view.
    if "current_value" in arguments.model_fields_set:
        context["currentValue"] = arguments.current_value
    with _teaching():
        run = create_run(
            agent_id=arguments.agent_id,
            scope=Scope.FIELD,
            actor=actor,
            post_id=require_post_id(arguments.post_id, actor),
            context=context,
            open_ended_context=arguments.open_ended_context,
            field_key=arguments.field_key,
            post_module_id=arguments.post_module_id,
            stages_value=arguments.apply_to_ai_review,
        )
    run = _waited_for(run, actor, arguments.wait)
    is_staged = arguments.apply_to_ai_review and run.status == RunStatus.SUCCEEDED
    answer: JsonObject = {
        "run": _answered(run),
        "value": run.value,
        "staged": list(run.staged) if is_staged else None,
    }
    note = describe_outcome(run, applies=arguments.apply_to_ai_review)
    return answer if note is None else {**answer, "note": note}


def _waited_for(run: AgentRun, actor: Actor, seconds: float) -> AgentRun:
    """Return the run after waiting. If the client cancels the call, cancel the run."""
    try:
        run = wait_for_run(run, seconds)
        check_cancelled()
    except CallCancelled:
        with suppress(Conflict):  # it is over already
            cancel_run(run_id=run.pk, actor=actor)
        raise
    return run


def describe_outcome(run: AgentRun, *, applies: bool) -> str | None:
    """Explain why there is no value, or why nothing was staged despite the request; None otherwise."""
    if not run.is_finished:
        return f"The run goes on; read it later with get_agent_run, runId {run.pk}."
    if run.status != RunStatus.SUCCEEDED:
        return f"There is no value, and nothing was staged: {run.error or run.status}"
    if run.declined:
        return f"The agent declined, and nothing was staged: {run.declined}"
    if applies and not run.staged:
        return "Nothing was staged: the field holds that value already."
    return None


def _answered(run: AgentRun) -> JsonObject:
    """Return a run as an answer, marked as untrusted if it read visitors' content."""
    if run.has_read_untrusted:
        note_untrusted()
    answer = cast("JsonObject", presenters.run_with_budget(run))
    if not answer["maskedPersonalData"]:
        del answer["maskedPersonalData"]
    return {
        name: value
        for name, value in answer.items()
        if name == "value" or (value not in (None, "") and value is not False)
    }


@contextmanager
def _teaching() -> Iterator[None]:
    """Add a hint about agent ids to an unknown agent's error."""
    try:
        yield
    except NotFound as error:
        if error.code == "unknown_agent":
            error.message += " Call list_agents for the ids."
        raise


@tool(title="Read a run", kind="read", permission="agents.view", group="agents", result=ReadRun)
def get_agent_run(actor: Actor, arguments: GetAgentRun) -> JsonObject:
    """A run of an agent: status, steps, usage, staged paths, or the reason why it failed."""
    return _answered(find_run(run_id=arguments.run_id, actor=actor))


class NamedBySlug(Result):
    slug: str
    name: str


class NamedModule(Result):
    type: str
    name: str
    description: str


class NamedAgent(Result):
    id: str
    name: str
    description: str


class RegistryItems(Result):
    """`agents` is set for callers who may see them."""

    post_types: list[NamedBySlug]
    modules: list[NamedModule]
    forms: list[NamedBySlug]
    taxonomies: list[NamedBySlug]
    agents: list[NamedAgent] | None = None


@tool(
    title="What there is",
    kind="read",
    permission="posts.view",
    group="context",
    result=RegistryItems,
)
def list_registry_items(actor: Actor, arguments: NoArguments) -> JsonObject:
    """Every post type, module, form, taxonomy and agent of this site by name. Start here."""
    answer: JsonObject = {
        "postTypes": [{"slug": row.name, "name": row.label} for row in post_types],
        "modules": [
            {"type": row.name, "name": row.label, "description": row.description} for row in modules
        ],
        "forms": [{"slug": slug, "name": title} for slug, title in titles_of_forms().items()],
        "taxonomies": [{"slug": row.name, "name": row.label} for row in taxonomies],
    }
    if actor.can("agents.view"):
        answer["agents"] = [
            {"id": row.id, "name": row.name, "description": row.description}
            for row in only_enabled(list(all_agents()))
        ]
    return answer
