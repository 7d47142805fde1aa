"""`/api/agents`, and endpoints to start a run: on a post, globally, and from outside with the secret."""

from __future__ import annotations

import hmac
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app import presenters
from agents_app.agent_status import AccountState, find_agent
from agents_app.batches.lifecycle import MAX_POSTS, create_bulk_runs
from agents_app.definitions.agents import agents_for, only_enabled, switch_agent
from agents_app.definitions.schema import Scope
from agents_app.definitions.versions import AgentVersions
from agents_app.evaluation.challengers import NewVersion, promote_version, set_challenger
from agents_app.models import AgentRun
from agents_app.presenters import AgentAnswer, OpenEndedAnswer, RunAnswer, ScopeEntryAnswer
from agents_app.runs.creation import create_run
from agents_app.runs.lifecycle import MAX_WAIT_SECONDS, wait_for_run
from agents_app.runs.queries import find_run
from agents_app.runs.triggers import TriggerRateExceeded, trigger_run
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.api.answer import Answer, TextOrNull, described, list_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.exceptions import body as error_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import SECRET, Declared
from proofroom.core.api.schema import (
    LOCATION,
    PAGES,
    choice_schema,
    integer_schema,
    query_parameter,
)
from proofroom.core.api.views import ApiViewSet
from proofroom.core.definition_files import ID_MAX, ID_PATTERN
from proofroom.core.errors import NotAuthenticated, invalid

AGENT_ID: Final = {
    "agent_id": {"type": "string", "pattern": ID_PATTERN, "maxLength": ID_MAX},
}
WAIT: Final = [
    query_parameter(
        "wait", "Seconds to wait for the result.", integer_schema(0, MAX_WAIT_SECONDS, 0)
    )
]
MADE_WAITING: Final = [*WAIT, LOCATION]
RUN_RESPONSES: Final = {200: described(RunAnswer), 201: described(RunAnswer)}
RUN_EXAMPLE: Final = OpenApiExample(
    "With words of the caller",
    {"openEndedContext": "Make the title shorter."},
    request_only=True,
)
AGENT_LIST: Final = list_of(described(AgentAnswer), "Agents.")
AGENT_PARAMETERS: Final = [
    query_parameter(
        "scope", "Where it runs.", {**choice_schema(*Scope), "default": Scope.DROPDOWN.value}
    ),
    query_parameter("fieldType", "For the scope field: a field type."),
    query_parameter("fieldKey", "For the scope field: a field, such as post.title."),
    query_parameter("formSlug", "For the scope form.submit: a form."),
    *PAGES,
]


class AnsweringAnswer(Answer):
    """The provider that would answer now, or the reason why none would."""

    provider: TextOrNull
    model: TextOrNull
    problem: TextOrNull


class AgentAccountAnswer(Answer):
    """The account an agent acts under: its own, the system's, a disabled one, or one not created yet."""

    state: AccountState
    username: str


class ChallengerAnswer(Answer):
    """The challenger of an agent. A null model or prompt is the champion's. `share`: percent of the runs."""

    model: TextOrNull
    prompt: TextOrNull
    share: int


class ChampionAnswer(Answer):
    """The promoted version of an agent, which overrides its file. A null model or prompt is the file's.

    `evaluation`: the one that it was promoted by; null if a person vouched for it.
    """

    model: TextOrNull
    prompt: TextOrNull
    promoted_at: datetime
    evaluation: UUID | None
    holds: bool = Field(
        description="False if the agent's file was changed since: the file answers."
    )


class OneAgentAnswer(Answer):
    """An agent with its provider, its usable tools, and unknown names in its file."""

    id: str
    name: str
    description: str
    scopes: list[ScopeEntryAnswer]
    open_ended_context: OpenEndedAnswer
    enabled: bool
    defined_in: str
    text: AnsweringAnswer
    media: AnsweringAnswer | None
    tools: list[str]
    reactions: int
    account: AgentAccountAnswer
    doubts: list[str]
    champion: ChampionAnswer | None
    challenger: ChallengerAnswer | None


class RejectedPostAnswer(Answer):
    """A post without a run, and the reason."""

    id: str
    error: str


class BulkRunsAnswer(Answer):
    """The runs on several posts, and the posts without a run."""

    batch_id: UUID
    data: list[RunAnswer]
    rejected: list[RejectedPostAnswer]


class ChallengerChange(Body, answered_by=ChallengerAnswer):
    """A version of the agent, and the percent of its runs that it gets."""

    model: Words | None = None
    prompt: Words | None = None
    share: Annotated[int, Field(ge=1, le=100)]


class ChampionChange(Body, answered_by=ChampionAnswer):
    """A version of the agent to promote. `confirmed`: a person vouches for it without an evaluation."""

    model: Words | None = None
    prompt: Words | None = None
    confirmed: bool = False


class AgentChanges(Body, answered_by=OneAgentAnswer):
    """Changes of an agent. Absent keys stay unchanged; other keys of the GET answer are ignored: the file
    defines them.

    A null `challenger` ends the challenge. A null `champion` lets the agent's file answer again.
    """

    enabled: bool | None = None
    challenger: ChallengerChange | None = None
    champion: ChampionChange | None = None


class PostRun(Body):
    scope: Literal["dropdown", "field"] = "dropdown"
    context: dict[str, Any] | None = None
    open_ended_context: Words | None = None
    field_key: Words | None = None
    post_module_id: Words | None = None


class GlobalRun(Body):
    post_id: Words | None = None
    context: dict[str, Any] | None = None
    open_ended_context: Words | None = None


class BulkRun(Body):
    ids: Annotated[list[Words], Field(min_length=1, max_length=MAX_POSTS)]
    open_ended_context: Words | None = None


def answer_one_agent(agent_id: str, actor: Actor) -> Response:
    """Answer an agent with its provider and tools, without prompt or key."""
    found = find_agent(agent_id=agent_id, actor=actor)
    answer = OneAgentAnswer(
        **presenters.agent(found.definition),
        enabled=found.is_enabled,
        defined_in=found.defined_in,
        text=AnsweringAnswer.model_validate(found.text),
        media=None if found.media is None else AnsweringAnswer.model_validate(found.media),
        tools=list(found.tools),
        reactions=len(found.definition.reactions),
        account=AgentAccountAnswer.model_validate(found.account),
        doubts=[f"{doubt.field}: {doubt.sentence}" for doubt in found.doubts],
        champion=champion_answer(found.versions),
        challenger=challenger_answer(found.versions),
    )
    return Response(answer)


def _new_version(given: ChallengerChange | ChampionChange | None) -> NewVersion | None:
    return None if given is None else NewVersion(given.model or "", given.prompt or "")


def champion_answer(versions: AgentVersions) -> ChampionAnswer | None:
    row = versions.row
    if row is None or row.promoted_at is None:
        return None
    return ChampionAnswer(
        model=row.champion_model or None,
        prompt=row.champion_prompt_id,
        promoted_at=row.promoted_at,
        evaluation=row.evaluation_id,
        holds=not versions.is_outdated,
    )


def challenger_answer(versions: AgentVersions) -> ChallengerAnswer | None:
    row = versions.row
    if row is None or not row.share:
        return None
    return ChallengerAnswer(
        model=row.challenger_model or None, prompt=row.challenger_prompt_id, share=row.share
    )


def wait_of(request: Request) -> int:
    """Return the query's `wait` in seconds. Raises `RuleViolation` unless it is 0 to 60."""
    text = request.query_params.get("wait", "0")
    # `isdigit` alone accepts digits that `int` rejects, such as superscripts.
    if not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= MAX_WAIT_SECONDS):
        raise invalid(
            "wait", f"wait must be a whole number of seconds from 0 to {MAX_WAIT_SECONDS}."
        )
    return int(text)


def waited(run: AgentRun, wait: int, actor: Actor) -> AgentRun:
    """Return the run after waiting. Raises `NotFound` if the caller lost the right to see it meanwhile."""
    wait_for_run(run, wait)
    # The account is read again, because its rights can change during the wait.
    person = User.objects.get(pk=actor.user.pk)
    return find_run(run_id=run.pk, actor=replace(actor, user=person))


def answer(run: AgentRun, wait: int, actor: Actor) -> Response:
    """Answer 201 with the run, or 200 if it finished during the wait."""
    if wait:
        run = waited(run, wait, actor)
    else:
        run.refresh_from_db()
    status = 200 if wait and run.is_finished else 201
    return Response(
        presenters.run(run), status=status, headers={"Location": f"/api/agent-runs/{run.pk}"}
    )


class AgentViewSet(ApiViewSet):
    """Agents and their runs, for signed-in users."""

    path_schemas = AGENT_ID
    permissions: ClassVar[dict[str, Declared]] = {
        "list": "agents.view",
        "retrieve": "agents.view",
        "partial_update": "agents.edit",
        "run_on_post": ("agents.dropdown", "agents.field"),
        "run_globally": "agents.global",
        "run_in_bulk": "agents.edit",
    }

    @extend_schema(parameters=AGENT_PARAMETERS, responses=AGENT_LIST)
    def list(self, request: Request) -> Response:
        """The agents that are on in a scope, in their order."""
        query = request.query_params
        scope = query.get("scope", Scope.DROPDOWN.value)
        if scope not in list(Scope):
            raise invalid("scope", f"{scope[:60]!r} is not a scope. Available: {', '.join(Scope)}.")
        page = page_of(request)
        found = only_enabled(
            agents_for(scope, query.get("fieldType"), query.get("fieldKey"), query.get("formSlug"))
        )
        rows = [presenters.agent(agent) for agent in found[page.slice]]
        return Response(page.envelope(rows, len(found)))

    @extend_schema(responses=OneAgentAnswer)
    def retrieve(self, request: Request, agent_id: str) -> Response:
        """One agent, on or off: provider, usable tools, account. Without prompt and key."""
        return answer_one_agent(agent_id, self.actor)

    @extend_schema(request=AgentChanges, responses=OneAgentAnswer)
    def partial_update(self, request: Request, agent_id: str) -> Response:
        """Switch an agent on or off, set its challenger, or promote a version, overriding its file.

        An agent that is off starts no runs. Promoting needs an evaluation that does not find the version
        worse (`evaluation_needed`), or `confirmed`.
        """
        find_agent(agent_id=agent_id, actor=self.actor)
        body = read_body(request, AgentChanges)
        given = body.model_fields_set
        if body.enabled is None and not given & {"challenger", "champion"}:
            raise invalid("enabled", "enabled must be true or false.")
        with transaction.atomic():
            if body.enabled is not None:
                switch_agent(agent_id=agent_id, enabled=body.enabled, actor=self.actor)
            if "challenger" in given:
                set_challenger(
                    agent_id=agent_id,
                    version=_new_version(body.challenger),
                    share=body.challenger.share if body.challenger is not None else 0,
                    actor=self.actor,
                )
            if "champion" in given:
                promote_version(
                    agent_id=agent_id,
                    version=_new_version(body.champion),
                    is_confirmed=body.champion is not None and body.champion.confirmed,
                    actor=self.actor,
                )
        return answer_one_agent(agent_id, self.actor)

    @extend_schema(
        parameters=MADE_WAITING,
        request=PostRun,
        responses=RUN_RESPONSES,
        examples=[RUN_EXAMPLE],
    )
    def run_on_post(self, request: Request, post_id: str, agent_id: str) -> Response:
        """Run an agent on a post, or on one field of it. Proposals go to AI Review."""
        body, wait = read_body(request, PostRun), wait_of(request)
        run = create_run(
            agent_id=agent_id,
            scope=body.scope,
            actor=self.actor,
            post_id=post_id,
            context=body.context,
            open_ended_context=body.open_ended_context,
            field_key=body.field_key,
            post_module_id=body.post_module_id,
        )
        return answer(run, wait, self.actor)

    @extend_schema(
        parameters=MADE_WAITING,
        request=GlobalRun,
        responses=RUN_RESPONSES,
    )
    def run_globally(self, request: Request, agent_id: str) -> Response:
        """Run an agent globally, with or without a post."""
        body, wait = read_body(request, GlobalRun), wait_of(request)
        run = create_run(
            agent_id=agent_id,
            scope=Scope.GLOBAL,
            actor=self.actor,
            post_id=body.post_id,
            context=body.context,
            open_ended_context=body.open_ended_context,
        )
        return answer(run, wait, self.actor)

    @extend_schema(request=BulkRun, responses={201: BulkRunsAnswer})
    def run_in_bulk(self, request: Request, agent_id: str) -> Response:
        """Run an agent on up to a hundred posts, one run each. `rejected` lists posts without a run."""
        body = read_body(request, BulkRun)
        made = create_bulk_runs(
            agent_id=agent_id,
            post_ids=body.ids,
            actor=self.actor,
            open_ended_context=body.open_ended_context,
        )
        ids = [row.pk for row in made.runs]
        # Read again with their steps, so that presenting them sends no query for each.
        rows = {row.pk: row for row in presenters.with_steps(AgentRun.objects.filter(pk__in=ids))}
        answer = {
            "batchId": made.batch.pk,
            "data": [presenters.run(rows[id_]) for id_ in ids],
            "rejected": [{"id": post.id, "error": post.error} for post in made.rejected],
        }
        return Response(answer, status=201)


_CAUSE = OpenApiParameter(
    "X-Agent-Run",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The run whose reaction caused this call: the header of this name in the webhook's request.",
)


class TriggerRun(GlobalRun):
    scope: Words = "dropdown"


class TriggerViewSet(ApiViewSet):
    """The public trigger: callers with the secret start an agent, which acts with its own rights only."""

    # Sessions are ignored, so that no web page can make a signed-in browser start an agent.
    authentication_classes = ()
    throttle_scope = "trigger"
    path_schemas = AGENT_ID
    permissions: ClassVar[dict[str, Declared]] = {"run": SECRET}

    @extend_schema(
        parameters=[*MADE_WAITING, _CAUSE],
        request=TriggerRun,
        responses=RUN_RESPONSES,
    )
    def run(self, request: Request, agent_id: str) -> Response:
        """Run an agent from outside. Needs the secret in X-Agent-Key, or as a Bearer credential.

        A caller that was itself called by a reaction sends its X-Agent-Run along, to limit chains
        of runs.
        """
        require_secret(request)
        body, wait = read_body(request, TriggerRun), wait_of(request)
        try:
            run, actor = trigger_run(
                agent_id=agent_id,
                scope=body.scope,
                post_id=body.post_id,
                context=body.context,
                open_ended_context=body.open_ended_context,
                caused_by=request.META.get("HTTP_X_AGENT_RUN", "").strip(),
            )
        except TriggerRateExceeded as error:
            answered = error_body(error.status, error.code, error.message)
            answered["Retry-After"] = str(error.seconds)
            return answered
        return answer(run, wait, actor)


def require_secret(request: Request) -> None:
    """Raise `NotAuthenticated` unless the request carries the secret, or if no secret is configured."""
    env = settings.CMS_ENV
    expected = env.agent_trigger_secret or env.mcp_auth_token
    scheme, _, bearer = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    given = [request.META.get("HTTP_X_AGENT_KEY", "")]
    if scheme.lower() == "bearer":
        given.append(bearer.strip())
    # All candidates are compared, so that the response time does not reveal which one matched.
    matches = [
        hmac.compare_digest(candidate.encode("utf-8", "surrogateescape"), (expected or "").encode())
        for candidate in given
        if candidate
    ]
    if not expected or not any(matches):
        raise NotAuthenticated("Send the agent secret in X-Agent-Key, or as a Bearer credential.")
