"""`/api/agent-runs`: runs of agents, with their tries, candidates, transcripts, causes and reactions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from pydantic import Field, JsonValue, WithJsonSchema
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app import presenters
from agents_app.api.agents import MADE_WAITING, RUN_RESPONSES, WAIT, answer, wait_of, waited
from agents_app.definitions.reaction_type import reaction_names
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunReaction, RunStatus
from agents_app.presenters import AgentScope, RunAnswer, RunState
from agents_app.reactions.outcomes import STATUSES, outcome_of, reactions_of
from agents_app.runs.chain import ChainLink, chain_of
from agents_app.runs.lifecycle import cancel_run
from agents_app.runs.queries import find_run, run_messages
from agents_app.runs.retry import retry_run, run_candidates, stage_candidate
from agents_app.runs.scopes import visible_runs
from agents_app.runs.undo import undo_run
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.api.answer import (
    Answer,
    MetaAnswer,
    PersonAnswer,
    TextOrNull,
    described,
    list_of,
    one_of,
)
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import uuid_in
from proofroom.core.api.schema import PAGES, UUID_TEXT, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid

HIDDEN_EVENT: Final = "event"
"""Name shown instead of an event that the caller may not see."""
RUN_PARAMETERS: Final = [
    query_parameter("postId", "Runs on a post.", UUID_TEXT),
    query_parameter("agentId", "Runs of an agent."),
    query_parameter("status", "Status.", choice_schema(*RunStatus.values)),
    query_parameter("scope", "Runs of a scope.", choice_schema(*Scope)),
    query_parameter("batchId", "Runs of a batch.", UUID_TEXT),
    query_parameter("causeRun", "Runs that this run started.", UUID_TEXT),
    *PAGES,
]
RUN_LIST: Final = list_of(described(RunAnswer), "Runs, latest first.")
ID_COLUMNS: Final = {"postId": "post_id", "batchId": "batch_id", "causeRun": "cause_run_id"}


class RevertedPostAnswer(Answer):
    """The result of reverting a run in one post."""

    post_id: UUID
    reverted: list[str]
    kept: list[str]
    unstaged: list[str]


class RevertedAnswer(Answer):
    """The result of reverting a run: paths reverted, retained because people changed them, and
    unstaged.

    The totals first, then by post. `deletedPosts`: posts created by the run and unchanged since.
    """

    run_id: UUID
    reverted: list[str]
    kept: list[str]
    unstaged: list[str]
    posts: list[RevertedPostAnswer]
    deleted_posts: list[UUID]


class CandidateAnswer(Answer):
    """One try at a field. Its value is null unless it succeeded."""

    run_id: UUID
    value: Annotated[JsonValue, WithJsonSchema({})]
    note: str = Field(description="The note on the previous attempt.")
    created_at: datetime
    status: RunState
    is_staged: bool


class CandidateListAnswer(Answer):
    """All tries at a field, oldest first: at most the latest hundred."""

    data: list[CandidateAnswer]


class MessageAnswer(Answer):
    """One message. `name` is set for tool calls and their results."""

    n: int = Field(validation_alias="number")
    role: Literal["system", "user", "assistant", "tool"]
    name: str
    text: str
    is_cut: bool = Field(description="Whether the text was truncated.")
    at: datetime = Field(validation_alias="created_at")


class TranscriptAnswer(Answer):
    """The messages of a run, in order."""

    data: list[MessageAnswer]
    meta: MetaAnswer


class ReactionAnswer(Answer):
    """A reaction to a run. `number` is its place in the agent's file, `target` a host or a tool."""

    number: int = Field(ge=1)
    type: Annotated[str, one_of(reaction_names())]
    trigger: Literal["always", "on_success", "on_error", "on_condition"]
    target: str
    status: Annotated[str, one_of(STATUSES)]
    attempts: int = Field(ge=0)
    next_attempt_at: datetime | None
    error: TextOrNull
    delivery_id: UUID | None = Field(
        description="The delivery of a call to another system, where people can resend it."
    )
    created_at: datetime
    finished_at: datetime | None


class LinkAnswer(Answer):
    """An event or a run. Of an event the caller may not see, only `kind`, `name` and `at` are set."""

    kind: Literal["event", "run"]
    id: UUID | None = Field(...)
    name: str = Field(description="The name of the event or agent.")
    agent_id: TextOrNull
    scope: AgentScope | None
    status: RunState | None
    post_id: UUID | None
    at: datetime
    by: PersonAnswer | None


class ChainAnswer(Answer):
    """The causes and consequences of a run, each oldest first. The first cause names the initiator."""

    causes: list[LinkAnswer]
    run: LinkAnswer
    caused: list[LinkAnswer]


class Retry(Body):
    note: Words = ""


def run_chain(run: AgentRun, actor: Actor) -> ChainAnswer:
    """Return the chain of a run for this caller. Hidden events appear without details."""
    found = chain_of(run, actor)
    return ChainAnswer(
        causes=[chain_link(link, actor) for link in found.causes],
        run=chain_link(ChainLink(run=found.run), actor),
        caused=[chain_link(link, actor) for link in found.caused],
    )


def chain_link(link: ChainLink, actor: Actor) -> LinkAnswer:
    run, event = link.run, link.event
    if run is not None:
        return LinkAnswer(
            kind="run",
            id=run.pk,
            name=run.agent_id,
            agent_id=run.agent_id,
            scope=run.scope,
            status=run.status,
            post_id=run.post_id,
            at=run.created_at,
            by=PersonAnswer(id=run.by_id, username=run.by_name),
        )
    if event is None:
        raise ValueError("a link is an event or a run")
    kind = outbox.find_kind(event.name)
    is_visible = kind is not None and actor.can(kind.permission)
    return LinkAnswer(
        kind="event",
        id=event.uid if is_visible else None,
        name=event.name if is_visible else HIDDEN_EVENT,
        agent_id=event.agent_id if is_visible else None,
        scope=None,
        status=None,
        post_id=event.post_id if is_visible else None,
        at=event.created_at,
        by=PersonAnswer(id=event.actor_id, username=event.actor_name) if is_visible else None,
    )


def reaction(row: RunReaction) -> ReactionAnswer:
    """Return a reaction to a run. Of a URL only the host is shown."""
    outcome = outcome_of(row)
    return ReactionAnswer.model_validate(
        {
            "number": row.number,
            "type": row.kind,
            "trigger": row.trigger,
            "target": row.target,
            "status": outcome.status,
            "attempts": outcome.attempts,
            "next_attempt_at": outcome.next_attempt_at,
            "error": outcome.error,
            "delivery_id": row.delivery_id,
            "created_at": row.created_at,
            "finished_at": outcome.finished_at,
        }
    )


def filter_runs(request: Request, actor: Actor) -> QuerySet[AgentRun]:
    """Return the runs that match the query. Raises `RuleViolation` for invalid values."""
    given = request.query_params
    runs = visible_runs(AgentRun.objects.all(), actor, actor.user.pk)
    for name, column in ID_COLUMNS.items():
        if (id_ := uuid_in(request, name)) is not None:
            runs = runs.filter(**{column: id_})
    for name, values in (("status", RunStatus.values), ("scope", list(Scope))):
        if name in given:
            if given[name] not in values:
                raise invalid(name, f"{name} must be one of {', '.join(values)}.")
            runs = runs.filter(**{name: given[name]})
    if "agentId" in given:
        # PostgreSQL cannot store or compare NUL in text.
        if "\x00" in given["agentId"]:
            raise invalid("agentId", "agentId must not contain the character NUL.")
        runs = runs.filter(agent_id=given["agentId"])
    return runs


class RunViewSet(ApiViewSet):
    """Runs: list, read, cancel, revert, retry, and their causes and consequences."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "agents.view",
        "retrieve": "agents.view",
        "cancel": ("agents.dropdown", "agents.field", "agents.global", "agents.edit"),
        "revert": "posts.revisions.manage",
        "retry": ("agents.dropdown", "agents.field", "agents.global", "agents.edit"),
        "candidates": "agents.view",
        "stage": "agents.field",
        "transcript": "agents.edit",
        "chain": "agents.view",
        "reactions": "agents.view",
    }

    @extend_schema(
        parameters=RUN_PARAMETERS,
        responses=RUN_LIST,
    )
    def list(self, request: Request) -> Response:
        """Runs, latest first."""
        page = page_of(request)
        runs = filter_runs(request, self.actor)
        rows = presenters.with_steps(runs.order_by("-created_at", "pk"))[page.slice]
        return Response(page.envelope([presenters.run(row) for row in rows], runs.count()))

    @extend_schema(parameters=WAIT, responses=described(RunAnswer))
    def retrieve(self, request: Request, run_id: str) -> Response:
        """One run; with `wait`, answered when it is finished or the time is over."""
        wait = wait_of(request)
        run = find_run(run_id=run_id, actor=self.actor)
        if wait:
            run = waited(run, wait, self.actor)
        return Response(presenters.run_with_budget(run))

    @extend_schema(request=None, responses={200: described(RunAnswer)})
    def cancel(self, request: Request, run_id: str) -> Response:
        """Cancel an unfinished run; it stages nothing any more."""
        return Response(presenters.run(cancel_run(run_id=run_id, actor=self.actor)))

    @extend_schema(request=None, responses={200: RevertedAnswer})
    def revert(self, request: Request, run_id: str) -> Response:
        """Revert all changes of a run, live and staged. Later edits by people stay."""
        done = undo_run(run_id=run_id, actor=self.actor)
        posts = [
            RevertedPostAnswer(
                post_id=post_id,
                reverted=list(one.reverted),
                kept=list(one.kept),
                unstaged=list(one.unstaged),
            )
            for post_id, one in done.posts.items()
        ]
        answer = RevertedAnswer(
            run_id=UUID(run_id),
            reverted=list(done.reverted),
            kept=list(done.kept),
            unstaged=list(done.unstaged),
            posts=posts,
            deleted_posts=list(done.deleted),
        )
        return Response(answer)

    @extend_schema(
        parameters=MADE_WAITING,
        request=Retry,
        responses=RUN_RESPONSES,
    )
    def retry(self, request: Request, run_id: str) -> Response:
        """Run an agent again with the input of a finished run, and a note on it."""
        body, wait = read_body(request, Retry), wait_of(request)
        run = retry_run(run_id=run_id, actor=self.actor, note=body.note)
        return answer(run, wait, self.actor)

    @extend_schema(responses=CandidateListAnswer)
    def candidates(self, request: Request, run_id: str) -> Response:
        """The answers of all tries at a field, oldest first; empty if the run was not about a field."""
        run = find_run(run_id=run_id, actor=self.actor)
        return Response(
            {"data": [CandidateAnswer.model_validate(one) for one in run_candidates(run)]}
        )

    @extend_schema(request=None, responses={200: described(RunAnswer)})
    def stage(self, request: Request, run_id: str) -> Response:
        """Stage the answer of a run on a field in AI Review, as the agent's proposal."""
        return Response(presenters.run(stage_candidate(run_id=run_id, actor=self.actor)))

    @extend_schema(parameters=PAGES, responses=TranscriptAnswer)
    def transcript(self, request: Request, run_id: str) -> Response:
        """The messages of a run, without secrets and visitors' texts. Stored for AGENT_TRANSCRIPT_DAYS."""
        page = page_of(request)
        messages = run_messages(find_run(run_id=run_id, actor=self.actor), self.actor)
        rows = [MessageAnswer.model_validate(message) for message in messages[page.slice]]
        return Response(page.envelope(rows, messages.count()))

    @extend_schema(responses=ChainAnswer)
    def chain(self, request: Request, run_id: str) -> Response:
        """The events and runs that led to a run, and its consequences."""
        run = find_run(run_id=run_id, actor=self.actor)
        return Response(run_chain(run, self.actor))

    @extend_schema(
        parameters=PAGES,
        responses=list_of(ReactionAnswer, "Reactions, in the order of the agent's file."),
    )
    def reactions(self, request: Request, run_id: str) -> Response:
        """The agent's reactions to a run, with their outcomes."""
        page = page_of(request)
        rows = reactions_of(find_run(run_id=run_id, actor=self.actor))
        found = [reaction(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))
