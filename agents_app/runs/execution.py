"""Execution of runs: claim, ask, validate, stage. An answer is staged completely or not at all.

A worker owns a run by its `attempt`. The transaction that stages the answer also sets `succeeded`,
and only if the attempt is still the worker's.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import Final, cast
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from pydantic import BaseModel

from agents_app.definitions.agents import account_of, enabled_agent
from agents_app.definitions.field_keys import field_of_key
from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.versions import load_versions
from agents_app.models import AgentRun, RunStatus
from agents_app.providers import interface, selection
from agents_app.providers.interface import ProviderError, StepRecord, ToolAnswer, ToolSpec
from agents_app.providers.outages import ProviderPlan, plan_around_outage
from agents_app.providers.selection import choose_fallback, choose_provider, load_ai_defaults
from agents_app.runs.allowed_fields import fields_of_run
from agents_app.runs.answer_schema import answer_type
from agents_app.runs.examples import ApprovedExample, approved_examples
from agents_app.runs.field_scope import limit_edit
from agents_app.runs.field_target import FieldTarget, find_field
from agents_app.runs.leak_prevention import (
    ReadLinks,
    RunRedactor,
    has_untrusted_changes,
    known_hosts,
    posts_have_untrusted_changes,
    refuse_new_links,
)
from agents_app.runs.lifecycle import end_run, held_back, lock_posts, wake_next
from agents_app.runs.ownership import (
    Heartbeat,
    current_run,
    owned_rows,
    require_ownership,
    run_stopped,
)
from agents_app.runs.payloads import (
    add_rejections,
    canonical_payload,
    field_payload,
    translation_source,
)
from agents_app.runs.permissions import run_actor, usable_tool, usable_tools
from agents_app.runs.prompt import (
    brief_for,
    fence_untrusted,
    run_message,
    save_prompt_version,
    split_untrusted,
    system_prompt,
)
from agents_app.runs.run_log import (
    ActivityText,
    RunWatcher,
    Transcript,
    add_step,
    mark_refused,
    record_run_end,
)
from agents_app.runs.submission_masking import mask_submission
from agents_app.runs.suggestion import (
    FieldSuggestion,
    Suggestion,
    edit_for,
    fields_named,
    proposes_nothing,
    value_of,
)
from agents_app.runs.undo import paths_written, take_back, undo_recording
from content.document.document import PostDocument
from content.layers import Layers, open_layers, stage
from content.models import Layer, Post
from content.store.scopes import require_in_scope
from proofroom.core.actor import Actor
from proofroom.core.database.errors import is_database_unreachable, log_database_unreachable
from proofroom.core.errors import CmsError, NotAllowed, NotFound, RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.observability.operations import OperationKind, measure
from proofroom.core.observability.work_ids import bind_ids
from proofroom.core.tools import Tool, get_tool
from proofroom.core.tools import call as calling
from proofroom.core.tools.schemas import lean_schema

logger = logging.getLogger(__name__)
MAX_RETRIES: Final = 2
"""Maximum retries of an invalid answer, wrong in form or against a rule of the content."""
UNKNOWN_TOOL: Final = "unknown tool"
MAX_ANSWER_BYTES: Final = 200_000
"""Maximum bytes of a tool's answer, which fit into the context of most models."""


@dataclass(slots=True)
class RunAttempt:
    """`post`, `layers` and `target` are set if the run is about a post or a field."""

    run: AgentRun
    agent: AgentDefinition
    actor: Actor
    post: Post | None
    layers: Layers | None
    target: FieldTarget | None
    source_hashes: Mapping[str, str] = field(default_factory=dict)
    """Hashes of the source's values, for a translation."""
    is_challenger: bool = False
    """Whether `agent` is the challenger."""
    links: ReadLinks = field(init=False)

    def __post_init__(self) -> None:
        self.links = ReadLinks(
            self.run.confined_to, cache(lambda: known_hosts(self.run, self.agent, self.layers))
        )


def prepare_attempt(run: AgentRun) -> RunAttempt:
    """Load the data of the run. Raises `NotFound` or `NotAllowed` if it was deleted or limited meanwhile."""
    agent, is_challenger = load_versions(enabled_agent(run.agent_id)).choose(run)
    account = account_of(agent)
    if account is None:
        raise NotAllowed(f"The account of the agent {agent.id} is turned off, so it cannot write.")
    if run.post_id is None:
        actor = run_actor(run, agent, account)
        return RunAttempt(run, agent, actor, None, None, None, is_challenger=is_challenger)
    post = Post.objects.filter(pk=run.post_id, deleted_at__isnull=True).first()
    if post is None:
        raise NotFound("The post was deleted before the run began.")
    layers = open_layers(post)
    if not run.has_read_untrusted and has_untrusted_changes(layers):
        run.has_read_untrusted = True
        owned_rows(run).update(has_read_untrusted=True)
    actor = run_actor(run, agent, account)
    # The post may have been moved, or the agent limited, since the run was created.
    require_in_scope(post, actor)
    target = None
    if run.scope == "field":
        target = find_field(layers.ai_review.document, run.field_key, run.post_module_id or None)
    return RunAttempt(run, agent, actor, post, layers, target, is_challenger=is_challenger)


class RunToolbox(interface.Toolbox):
    """The tools of one attempt at a run, called as its agent. Every call is a step of the run."""

    def __init__(self, attempt: RunAttempt, activity: ActivityText | None = None) -> None:
        self._run = attempt.run
        self._links = attempt.links
        self._activity = activity
        self._agent = attempt.agent
        # All tools of the agent; `specs` and `_answer` leave out what a run that has read
        # untrusted content may not use.
        named = usable_tools(attempt.agent, replace(attempt.actor, has_read_untrusted=False))
        # Runs started by a tool may use no more tools than this run.
        self._actor = replace(attempt.actor, tools=frozenset(tool.name for tool in named))

    def specs(self) -> Sequence[ToolSpec]:
        tools = usable_tools(self._agent, self._actor)
        return [
            ToolSpec(tool.name, tool.description, lean_schema(tool.arguments)) for tool in tools
        ]

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        if self._activity is not None:
            # A model can send any text as a tool's name, so unknown names are not shown.
            known = get_tool(name) is not None
            self._activity.say(f"Calling {name}" if known else "Calling a tool that does not exist")
        require_ownership(self._run)
        started = time.monotonic()
        answer, summary = self._answer(name, arguments)
        took = int((time.monotonic() - started) * 1000)
        # A model can send any text as a tool's name, including visitors' texts, which steps must
        # not contain.
        step_name = name if get_tool(name) else UNKNOWN_TOOL
        add_step(self._run, StepRecord("tool", step_name, answer.ok, took, summary))
        return answer

    def _answer(self, name: str, arguments: JsonObject) -> tuple[ToolAnswer, str]:
        """Return the answer for the model, and its summary for the step."""
        try:
            tool = usable_tool(name, self._agent, self._actor)
            text = self._text(tool, arguments)
        except CmsError as error:
            lesson = calling.refusal_text(error)
            if error.code == "unknown_tool":
                known = [tool.name for tool in usable_tools(self._agent, self._actor)]
                lesson = calling.unknown_tool(name, known)
            return ToolAnswer(lesson, ok=False), f"refused: {error.code}"
        # A stopped run or an exceeded budget ends the run, it is no failed tool.
        except ProviderError:
            raise
        except Exception as error:
            if is_database_unreachable(error):
                raise
            reference = uuid4().hex[:12]
            logger.exception(
                "tool %s of run %s failed, reference %s", name, self._run.pk, reference
            )
            text = f"Internal error, reference {reference}. Go on without this tool."
            return ToolAnswer(text, ok=False), f"failed, reference {reference}"
        return ToolAnswer(text, ok=True), f"{len(text):,} characters"

    def _text(self, tool: Tool[BaseModel], arguments: JsonObject) -> str:
        if tool.kind == "stage":
            self._links.refuse_in(arguments)
        with undo_recording(self._run):
            called = calling.call_raw(tool, self._actor, arguments, most=MAX_ANSWER_BYTES)
        text = called.body.decode()
        # Checked for every tool, because translations copy such texts and conflicts return
        # submitted ones.
        if not called.is_untrusted and not posts_have_untrusted_changes(called.post_ids):
            self._links.add(text, called.post_ids)
            return text
        # Stored before the model receives the answer, so that the limits apply from then on.
        if not owned_rows(self._run).update(has_read_untrusted=True):
            raise run_stopped()
        self._run.has_read_untrusted = True
        self._actor = replace(self._actor, has_read_untrusted=True)
        return fence_untrusted(self._run, text)


@transaction.atomic
def finish_run(attempt: RunAttempt, output: BaseModel, redactor: RunRedactor) -> None:
    """Stage the answer and end the run. Raises `RuleViolation` if the answer is invalid."""
    answer = cast("Suggestion | FieldSuggestion", output)
    refuse_new_links(attempt.run, attempt.agent, attempt.layers, answer)
    attempt.links.refuse_in(answer.model_dump(mode="json", by_alias=True, exclude_none=True))
    if answer.declined is not None:
        summary = redactor.redact(answer.summary or "")
        _finish_declined(attempt, redactor.redact(answer.declined), summary)
        return
    if attempt.layers is not None:
        # Checked even if the answer changes nothing, because it must name only its fields.
        _require_allowed(attempt, answer, attempt.layers.ai_review.document)
    value: Json = None
    if isinstance(answer, FieldSuggestion):
        if attempt.target is None or attempt.layers is None:
            raise ValueError("a field suggestion needs the field")
        value = value_of(answer, attempt.target, attempt.layers.ai_review.document)
        answer = FieldSuggestion(value=value, summary=answer.summary)
    if attempt.run.is_dry:
        if not proposes_nothing(answer):
            # A dry run stages its answer and rolls back, to get the same errors as a real run.
            with suppress(_RollBack), transaction.atomic():
                _stage(attempt, answer, redactor)
                raise _RollBack
        value = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    # Lock the posts before the run, in the same order as tools that write.
    lock_posts(attempt.run)
    updated = owned_rows(attempt.run).update(
        status=RunStatus.SUCCEEDED,
        finished_at=timezone.now(),
        summary=redactor.redact(answer.summary or ""),
        value=value,
        doing="",
    )
    if not updated:
        raise run_stopped()
    staged = paths_written(attempt.run)
    if not proposes_nothing(answer) and attempt.run.stages_value:
        staged = list(dict.fromkeys([*staged, *_stage(attempt, answer, redactor)]))
    AgentRun.objects.filter(pk=attempt.run.pk).update(staged=staged)
    attempt.run.status = RunStatus.SUCCEEDED
    record_run_end(attempt.run, attempt.actor)
    wake_next(attempt.run)


def _finish_declined(attempt: RunAttempt, reason: str, summary: str) -> None:
    """End the run as succeeded, with the reason and without any change, also of its tools."""
    lock_posts(attempt.run)
    updated = owned_rows(attempt.run).update(
        status=RunStatus.SUCCEEDED,
        finished_at=timezone.now(),
        declined=reason,
        summary=summary,
        doing="",
    )
    if not updated:
        raise run_stopped()
    attempt.run.status = RunStatus.SUCCEEDED
    take_back(attempt.run)
    record_run_end(attempt.run, attempt.actor)
    wake_next(attempt.run)


def _require_allowed(
    attempt: RunAttempt, answer: Suggestion | FieldSuggestion, document: PostDocument
) -> None:
    """Raise `RuleViolation` for each field in the answer that the run may not propose."""
    allowed = fields_of_run(attempt.agent, attempt.run)
    if isinstance(answer, Suggestion):
        allowed.require(fields_named(answer, document))
    elif attempt.target is not None:
        path = attempt.target.document_path(document)
        allowed.require({path: field_of_key(attempt.target.key)})


class _RollBack(Exception):
    """Rolls back the staging of a dry run."""


def _stage(
    attempt: RunAttempt, answer: Suggestion | FieldSuggestion, redactor: RunRedactor
) -> tuple[str, ...]:
    if attempt.post is None:
        message = "There is no post here: answer with a summary only."
        raise RuleViolation(message, details={"post": [message]})
    return stage(
        post_id=attempt.post.pk,
        layer=Layer.AI_REVIEW,
        actor=attempt.actor,
        edit=limit_edit(edit_for(answer, attempt.target), attempt.run.context),
        source_hashes=attempt.source_hashes,
        reason=redactor.redact(answer.summary or ""),
    ).paths


def execute_run(run_id: UUID | str) -> None:
    """Execute a run if it is queued. Idempotent."""
    run = _claim(run_id)
    if run is None:
        return
    ids = bind_ids({"run_id": str(run.pk), "cause_id": run.event_id})
    with ids, measure(OperationKind.RUN, run.agent_id) as measured:
        _finish_attempt(run)
        # A run that was taken from this worker, or lost its database, still has the status running
        # here.
        measured.outcome = "lost" if run.status == RunStatus.RUNNING else str(run.status)


def _finish_attempt(run: AgentRun) -> None:
    """Work on a claimed run until it ends, and store every error on it."""
    redactor = RunRedactor(run.context.get("untrusted"))
    try:
        with Heartbeat(run) as heartbeat, current_run(run):
            _work(run, heartbeat, redactor)
    except interface.ProviderStopped:
        logger.info("run %s was taken over by another worker; nothing was staged", run.pk)
    except interface.ProviderTimeout as error:
        end_run(run, RunStatus.TIMED_OUT, redactor.redact(str(error)))
    except interface.ProviderError as error:
        end_run(run, RunStatus.FAILED, redactor.redact(str(error)))
    except CmsError as error:
        end_run(run, RunStatus.FAILED, redactor.redact(error.message))
    except Exception as error:
        if is_database_unreachable(error):
            # Nothing can be written now. The heartbeat stops, and the sweep gives the run another
            # attempt.
            log_database_unreachable(error, f"run {run.pk}")
            return
        reference = uuid4().hex[:12]
        logger.exception("run %s failed, reference %s", run.pk, reference)
        sentence = f"Something went wrong here; it was logged as {reference}."
        end_run(run, RunStatus.FAILED, sentence)


def _claim(run_id: UUID | str) -> AgentRun | None:
    """Return the run with a new attempt, or None if it is taken, finished, or waits for an earlier run
    of its event.
    """
    now, token = timezone.now(), uuid4()
    # One conditional UPDATE, so that only one of several workers gets the run.
    claimed = (
        AgentRun.objects.filter(pk=run_id, status=RunStatus.QUEUED)
        .exclude(held_back())
        .update(
            status=RunStatus.RUNNING,
            attempt=token,
            attempts=F("attempts") + 1,
            started_at=now,
            heartbeat_at=now,
            deadline_at=now + timedelta(seconds=settings.CMS_ENV.agent_run_timeout),
        )
    )
    return AgentRun.objects.filter(pk=run_id, attempt=token).first() if claimed else None


def _work(run: AgentRun, heartbeat: Heartbeat, redactor: RunRedactor) -> None:
    attempt = prepare_attempt(run)
    plan = _plan_providers(attempt.agent)
    choice = plan.choice
    version = save_prompt_version(attempt.agent)
    document = attempt.layers.ai_review.document if attempt.layers else None
    brief = brief_for(attempt.post)
    payload, examples = _payload(attempt, document)
    payload, masked = mask_submission(payload)
    # Masks change the visitor's sentences, which must not be stored in that form either.
    redactor.add_untrusted(split_untrusted(payload)[1])
    if not owned_rows(run).update(
        provider=choice.provider,
        model=choice.model,
        fallback_from=plan.skipped.as_reference() if plan.skipped is not None else None,
        prompt_version=version,
        is_challenger=attempt.is_challenger,
        briefs=[
            {"id": str(one.id), "name": one.name, "version": one.version} for one in brief.sources
        ],
        examples=[example.as_reference() for example in examples],
        masked=sorted(masked),
    ):
        raise run_stopped()
    transcript = Transcript(run, redactor)
    watcher = RunWatcher(run, choice, transcript)
    toolbox = RunToolbox(attempt, watcher.doing) if attempt.agent.llm_config.use_mcp else None
    tools = toolbox.specs() if toolbox is not None else ()
    conversation = selection.open_conversation(
        attempt.agent.id,
        attempt.agent.llm_config.options,
        choice,
        system_prompt=system_prompt(attempt.agent, run, document, tools, brief.to_markdown()),
        payload=payload,
        output_type=answer_type(
            run.scope, fields_of_run(attempt.agent, run), document, attempt.target
        ),
        toolbox=toolbox,
        watcher=watcher,
        fallback=plan.fallback,
    )
    # Set before the first request, so that losing the run interrupts it.
    heartbeat.on_lost = conversation.stop
    message = run_message(attempt.agent, run, document, payload, tools)
    _converse(attempt, conversation, message, transcript)


def _plan_providers(agent: AgentDefinition) -> ProviderPlan:
    """Return the provider of a run and its fallback. Two queries at most."""
    defaults = load_ai_defaults()
    choice = choose_provider(agent.llm_config, agent.id, defaults)
    return plan_around_outage(choice, choose_fallback(agent.llm_config, agent.id, choice, defaults))


def _payload(
    attempt: RunAttempt, document: PostDocument | None
) -> tuple[JsonObject, list[ApprovedExample]]:
    """Return the payload, and the examples in it."""
    examples: list[ApprovedExample] = []
    run, post, layers, target = attempt.run, attempt.post, attempt.layers, attempt.target
    if layers is not None and post is not None and target is not None:
        examples = approved_examples(
            post=post, document=layers.ai_review.document, target=target, actor=attempt.actor
        )
        payload = field_payload(run, post, layers, target, examples)
    else:
        source = translation_source(post, attempt.agent, attempt.actor)
        payload = canonical_payload(run, post, document, source)
        attempt.source_hashes = source.hashes if source is not None else {}
    return add_rejections(payload, post, document, target), examples


def _converse(
    attempt: RunAttempt, talk: interface.Conversation, text: str, transcript: Transcript
) -> None:
    """Ask until an answer can be staged, sending back the errors of the previous one."""
    left, refused = MAX_RETRIES, ""
    while True:
        seconds = 0.0
        if attempt.run.deadline_at is not None:  # the claim sets it
            seconds = (attempt.run.deadline_at - timezone.now()).total_seconds()
        try:
            answer = talk.ask(text, retries=left, seconds=seconds)
        # Subclasses of ProviderError that end the run in another way.
        except (interface.ProviderTimeout, interface.ProviderStopped):
            raise
        except interface.ProviderError as error:
            if refused:
                raise interface.ProviderError(
                    f"The answer was refused: {refused} {error}"
                ) from None
            raise
        finally:
            transcript.keep()
        # Answers of a wrong form and refused answers share one limit.
        left -= answer.retried
        try:
            return finish_run(attempt, answer.output, transcript.redactor)
        except RuleViolation as error:
            lines = [f"{path}: {' '.join(messages)}" for path, messages in error.details.items()]
            refused = "\n".join(lines) or error.message
        mark_refused(attempt.run, transcript.redactor.redact(refused))
        if left <= 0:
            raise interface.ProviderError(
                f"The answer was refused after {MAX_RETRIES + 1} tries: {refused}"
            )
        left -= 1
        text = (
            "Your answer was refused and nothing of it was staged. "
            f"Mend it and answer again, in full:\n{refused}"
        )
