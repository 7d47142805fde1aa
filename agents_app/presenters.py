"""Agents and runs as answers of the API and the tools."""

from __future__ import annotations

from typing import Annotated, Final, NotRequired

from django.db.models import QuerySet
from pydantic import Field, JsonValue, WithJsonSchema
from typing_extensions import TypedDict

from agents_app.budgets.reservations import budget_warnings
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentRun, RunStatus
from proofroom.core.api.answer import Person, one_of
from proofroom.core.api.schema import UUID_TEXT
from proofroom.core.json import format_time

SCOPES: Final = [scope.value for scope in Scope]
AgentScope = Annotated[str, one_of(SCOPES)]
RunState = Annotated[str, one_of(RunStatus.values)]
UuidText = Annotated[str, WithJsonSchema(UUID_TEXT)]
TimeText = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]


class ScopeEntryAnswer(TypedDict):
    """The posts that an agent runs on; an absent list does not limit it."""

    scope: AgentScope
    order: int
    enabled: bool
    fieldTypes: NotRequired[list[str]]
    fieldKeys: NotRequired[list[str]]
    formSlugs: NotRequired[list[str]]


class OpenEndedAnswer(TypedDict):
    """The instructions that a caller may add for an agent, with their label."""

    enabled: bool
    label: NotRequired[str]
    placeholder: NotRequired[str]
    maxChars: NotRequired[Annotated[int, Field(ge=1)]]


class AgentAnswer(TypedDict):
    """An agent."""

    id: str
    name: str
    description: str
    scopes: list[ScopeEntryAnswer]
    openEndedContext: OpenEndedAnswer


class UsageAnswer(TypedDict):
    """Tokens of a run. `cachedTokens`: the part of the input read from the provider's cache."""

    inputTokens: int
    outputTokens: int
    cachedTokens: int


class ExampleAnswer(TypedDict):
    """The place of an approved value that a run was shown."""

    postId: UuidText
    path: str


class ModelReferenceAnswer(TypedDict):
    """A model of a provider."""

    provider: str
    model: str


class RunBriefAnswer(TypedDict):
    """An editorial brief that a run was told."""

    id: UuidText
    name: str
    version: int


class StepAnswer(TypedDict):
    """One question to the model, or one call of a tool."""

    n: int
    kind: Annotated[str, one_of(("model", "tool"))]
    name: str
    ok: bool
    ms: int
    summary: str


class RunAnswer(TypedDict):
    """A run of an agent."""

    id: UuidText
    agentId: str
    scope: AgentScope
    postId: UuidText | None
    status: RunState
    createdAt: TimeText
    startedAt: TimeText | None
    finishedAt: TimeText | None
    revertedAt: TimeText | None
    by: Person
    via: str
    batchId: UuidText | None
    retryOf: Annotated[
        UuidText | None, Field(description="The first run of this series of retries.")
    ]
    note: Annotated[str, Field(description="The note on the previous attempt.")]
    doing: Annotated[str, Field(description="What the run is doing now, as text.")]
    hasReadUntrusted: Annotated[
        bool,
        Field(
            description="Whether the run has read text from visitors or other sites, and so can only read."
        ),
    ]
    provider: str | None
    model: str | None
    isChallenger: Annotated[bool, Field(description="Whether the agent's challenger answered.")]
    fallbackFrom: Annotated[
        ModelReferenceAnswer | None,
        Field(description="The model that did not answer, so that the fallback took over."),
    ]
    maskedPersonalData: Annotated[
        list[str],
        Field(description="Kinds of visitors' personal data that were masked for the model."),
    ]
    usage: UsageAnswer
    cost: float | None
    summary: str
    declined: Annotated[
        str | None, Field(description="Why the run proposed nothing, in the agent's own words.")
    ]
    staged: list[str]
    examples: list[ExampleAnswer]
    briefs: list[RunBriefAnswer]
    error: str | None
    steps: list[StepAnswer]
    budgetWarnings: NotRequired[
        Annotated[
            list[str],
            Field(
                description="Budgets of the agent that are nearly or completely used up, in sentences. Only in "
                "the answer of a single run, and absent without any."
            ),
        ]
    ]
    fieldKey: NotRequired[str]
    value: NotRequired[Annotated[JsonValue, WithJsonSchema({})]]


def agent(definition: AgentDefinition) -> AgentAnswer:
    """Return an agent for API callers, without prompt, provider and key."""
    scopes: list[ScopeEntryAnswer] = []
    for entry in definition.scopes:
        scope: ScopeEntryAnswer = {
            "scope": entry.scope.value,
            "order": entry.order,
            "enabled": entry.enabled,
        }
        if entry.field_types:
            scope["fieldTypes"] = list(entry.field_types)
        if entry.field_keys:
            scope["fieldKeys"] = list(entry.field_keys)
        if entry.form_slugs:
            scope["formSlugs"] = list(entry.form_slugs)
        scopes.append(scope)
    rule = definition.open_ended_context
    open_ended: OpenEndedAnswer = {"enabled": rule.enabled}
    if rule.enabled and rule.label is not None:
        open_ended["label"] = rule.label
    if rule.enabled and rule.placeholder is not None:
        open_ended["placeholder"] = rule.placeholder
    if rule.enabled and rule.max_chars is not None:
        open_ended["maxChars"] = rule.max_chars
    return {
        "id": definition.id,
        "name": definition.name,
        "description": definition.description,
        "scopes": scopes,
        "openEndedContext": open_ended,
    }


def with_steps(runs: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
    """Prefetch everything that `run` reads. Two queries."""
    return runs.prefetch_related("steps")


def run_with_budget(row: AgentRun) -> RunAnswer:
    """Return a run with the warnings of its agent's budgets. One query more."""
    answer = run(row)
    if warnings := budget_warnings(row.agent_id):
        answer["budgetWarnings"] = warnings
    return answer


def usage_answer(input_tokens: int, output_tokens: int, cached_tokens: int) -> UsageAnswer:
    return {
        "inputTokens": input_tokens,
        "outputTokens": output_tokens,
        "cachedTokens": cached_tokens,
    }


def run(row: AgentRun) -> RunAnswer:
    """Return a run. `value` is set for runs on a field only."""
    answer: RunAnswer = {
        "id": str(row.pk),
        "agentId": row.agent_id,
        "scope": row.scope,
        "postId": str(row.post_id) if row.post_id else None,
        "status": row.status,
        "createdAt": format_time(row.created_at),
        "startedAt": format_time(row.started_at),
        "finishedAt": format_time(row.finished_at),
        "revertedAt": format_time(row.reverted_at),
        "by": {"id": row.by_id, "username": row.by_name},
        "via": row.via,
        "batchId": str(row.batch_id) if row.batch_id else None,
        "retryOf": str(row.first_try_id) if row.first_try_id else None,
        "note": row.note,
        "doing": row.doing,
        "hasReadUntrusted": row.has_read_untrusted,
        "provider": row.provider or None,
        "model": row.model or None,
        "isChallenger": row.is_challenger,
        "fallbackFrom": row.fallback_from or None,
        "maskedPersonalData": list(row.masked or ()),
        "usage": usage_answer(row.input_tokens, row.output_tokens, row.cached_tokens),
        "cost": float(row.cost) if row.cost is not None else None,
        "summary": row.summary,
        "declined": row.declined or None,
        "staged": list(row.staged),
        "examples": list(row.examples or ()),
        "briefs": list(row.briefs or ()),
        "error": row.error or None,
        "steps": [
            {
                "n": step.number,
                "kind": step.kind,
                "name": step.name,
                "ok": step.ok,
                "ms": step.milliseconds,
                "summary": step.summary,
            }
            for step in row.steps.all()
        ],
    }
    if row.scope == "field":
        answer["fieldKey"] = row.field_key
        answer["value"] = row.value
    return answer
