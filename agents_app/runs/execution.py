"""Executes runs: claim, ask, validate, stage. Half an answer is never staged, whatever dies on the way.

A worker owns a run by its `attempt`. The row turns `succeeded` in the very transaction that stages the answer, and
only while the attempt is still the worker's own.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, cast
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from pydantic import BaseModel

from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.switches import account_of, enabled_agent
from agents_app.models import AgentRun, RunStatus
from agents_app.providers import port
from agents_app.providers.choices import resolve
from agents_app.runs.fields import FieldTarget, find_field
from agents_app.runs.lifecycle import end_run, held_back, lock_posts, record_run_end, wake_next
from agents_app.runs.links import refuse_new_links
from agents_app.runs.ownership import Heartbeat, current_run, owned_rows, run_stopped
from agents_app.runs.payloads import (
    add_rejections,
    canonical_payload,
    field_payload,
    translation_source,
)
from agents_app.runs.prompt import fence_payload, save_prompt_version, system_prompt
from agents_app.runs.redaction import RunRedactor
from agents_app.runs.run_log import RunWatcher, ToldToolbox, Transcript, mark_refused
from agents_app.runs.scope import run_actor
from agents_app.runs.suggestion import (
    FieldSuggestion,
    Suggestion,
    edit_for,
    output_type,
    proposes_nothing,
    value_of,
)
from agents_app.runs.toolset import RunToolbox
from agents_app.runs.undo_log import paths_written
from agents_app.runs.untrusted_changes import has_untrusted_changes
from content.layers import Layers, open_layers, stage
from content.models import Layer, Post
from core.actor import Actor
from core.availability import is_database_away, log_database_away
from core.errors import CmsError, NotAllowed, NotFound, RuleViolation
from core.json import Json, JsonObject


@dataclass(slots=True)
class RunAttempt:
    """`post`, `layers` and `target` are there where the run is about a post, and about a field of it."""

    run: AgentRun
    agent: AgentDefinition
    actor: Actor
    post: Post | None
    layers: Layers | None
    target: FieldTarget | None


def prepare_attempt(run: AgentRun) -> RunAttempt:
    """What the run needs. Raises `NotFound` or `NotAllowed` where something of it is gone."""
    agent = enabled_agent(run.agent_id)
    account = account_of(agent)
    if account is None:
        raise NotAllowed(
            f"The account of the agent {agent.id} is switched off, so it cannot write."
        )
    if run.post_id is None:
        return RunAttempt(run, agent, run_actor(run, agent, account), None, None, None)
    post = Post.objects.filter(pk=run.post_id, deleted_at__isnull=True).first()
    if post is None:
        raise NotFound("The post was deleted before the run began.")
    layers = open_layers(post)
    if not run.has_read_untrusted and has_untrusted_changes(layers):
        run.has_read_untrusted = True
        owned_rows(run).update(has_read_untrusted=True)
    actor = run_actor(run, agent, account)
    target = None
    if run.scope == "field":
        target = find_field(layers.ai_review.document, run.field_key, run.post_module_id or None)
    return RunAttempt(run, agent, actor, post, layers, target)


@transaction.atomic
def finish_run(task: RunAttempt, output: BaseModel, hiding: RunRedactor) -> None:
    """Stage the answer and end the run. Raises `RuleViolation` where the answer cannot stand."""
    answer = cast("Suggestion | FieldSuggestion", output)
    refuse_new_links(task.run, task.agent, task.layers, answer)
    value: Json = None
    if isinstance(answer, FieldSuggestion):
        value = _field_value(task, answer)
        answer = FieldSuggestion(value=value, summary=answer.summary)
    if task.run.is_dry:
        _check_stageable(task, answer)
        value = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    lock_posts(task.run)
    taken = owned_rows(task.run).update(
        status=RunStatus.SUCCEEDED,
        finished_at=timezone.now(),
        summary=hiding.text(answer.summary or ""),
        value=value,
        doing="",
    )
    if not taken:
        raise run_stopped()
    staged = paths_written(task.run)
    if not proposes_nothing(answer) and task.run.stages_value:
        staged = list(dict.fromkeys([*staged, *_stage(task, answer)]))
    AgentRun.objects.filter(pk=task.run.pk).update(staged=staged)
    task.run.status = RunStatus.SUCCEEDED
    record_run_end(task.run, task.actor)
    wake_next(task.run)


def _field_value(task: RunAttempt, answer: FieldSuggestion) -> Json:
    if task.target is None or task.layers is None:
        raise ValueError("a field suggestion needs the field")
    return value_of(answer, task.target, task.layers.ai_review.document)


class _RollBack(Exception):
    """Rolls back what was staged to see whether it can be."""


def _check_stageable(task: RunAttempt, answer: Suggestion | FieldSuggestion) -> None:
    """Raises `RuleViolation` where the answer could not be staged; nothing of it stays."""
    if proposes_nothing(answer):
        return
    with suppress(_RollBack), transaction.atomic():
        _stage(task, answer)
        raise _RollBack


def _stage(task: RunAttempt, answer: Suggestion | FieldSuggestion) -> tuple[str, ...]:
    if task.post is None:
        message = "There is no post here: answer with a summary only."
        raise RuleViolation(message, details={"post": [message]})
    return stage(
        post_id=task.post.pk,
        layer=Layer.AI_REVIEW,
        actor=task.actor,
        edit=edit_for(answer, task.target),
    ).paths


logger = logging.getLogger(__name__)
MAX_RETRIES: Final = 2
"""How often an invalid answer is sent back, be it wrong in form or against a rule of the content."""


def execute_run(run_id: UUID | str) -> None:
    """Do a run, if it waits to be done. Safe to call any number of times."""
    run = _claim(run_id)
    if run is None:
        return
    hiding = RunRedactor(run.context.get("untrusted"))
    try:
        with Heartbeat(run) as heartbeat, current_run(run):
            _work(run, heartbeat, hiding)
    except port.ProviderStopped:
        logger.info("run %s was taken from this worker; nothing was staged", run.pk)
    except port.ProviderTimeout as error:
        end_run(run, RunStatus.TIMED_OUT, hiding.text(str(error)))
    except port.ProviderError as error:
        end_run(run, RunStatus.FAILED, hiding.text(str(error)))
    except CmsError as error:
        end_run(run, RunStatus.FAILED, hiding.text(error.message))
    except Exception as error:
        if is_database_away(error):
            # Nothing can be written now. The run falls silent, and the sweep gives it another attempt.
            log_database_away(error, f"run {run.pk}")
            return
        reference = uuid4().hex[:12]
        logger.exception("run %s failed, reference %s", run.pk, reference)
        sentence = f"Something went wrong here; it was logged as {reference}."
        end_run(run, RunStatus.FAILED, sentence)


def _claim(run_id: UUID | str) -> AgentRun | None:
    """The run with a fresh attempt, unless it is taken, finished, or waits for an earlier one of its event."""
    now, token = timezone.now(), uuid4()
    taken = (
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
    return AgentRun.objects.filter(pk=run_id, attempt=token).first() if taken else None


def _work(run: AgentRun, heartbeat: Heartbeat, hiding: RunRedactor) -> None:
    task = prepare_attempt(run)
    choice = resolve(task.agent)
    version = save_prompt_version(task.agent)
    if not owned_rows(run).update(
        provider=choice.provider, model=choice.model, prompt_version=version
    ):
        raise run_stopped()
    document = task.layers.ai_review.document if task.layers else None
    payload = _payload(task)
    transcript = Transcript(run, hiding)
    watcher = RunWatcher(run, choice, transcript)
    toolbox = _toolbox(task, watcher)
    tools = toolbox.specs() if toolbox is not None else ()
    talk = port.open_conversation(
        task.agent,
        choice,
        system_prompt=system_prompt(task.agent, run, document, tools),
        payload=payload,
        output_type=output_type(run.scope),
        toolbox=toolbox,
        watcher=watcher,
    )
    heartbeat.on_lost = talk.stop
    _converse(task, talk, fence_payload(run, payload), transcript)


def _toolbox(task: RunAttempt, watcher: RunWatcher) -> port.Toolbox | None:
    if not task.agent.llm_config.use_mcp:
        return None
    return ToldToolbox(RunToolbox(task), watcher.doing)


def _payload(task: RunAttempt) -> JsonObject:
    document = task.layers.ai_review.document if task.layers else None
    if task.layers is not None and task.post is not None and task.target is not None:
        payload = field_payload(task.run, task.post, task.layers, task.target)
    else:
        source = translation_source(task.post, task.agent, task.actor)
        payload = canonical_payload(task.run, task.post, document, source)
    return add_rejections(payload, task.post, document, task.target)


def _converse(task: RunAttempt, talk: port.Conversation, text: str, transcript: Transcript) -> None:
    """Ask until an answer can be staged whole, sending back what was wrong with the one before."""
    left, refused = MAX_RETRIES, ""
    while True:
        try:
            answer = _ask(task.run, talk, text, left, refused)
        finally:
            transcript.keep()
        left -= answer.retried
        try:
            return finish_run(task, answer.output, transcript.hiding)
        except RuleViolation as error:
            refused = _sentences(error)
        mark_refused(task.run, transcript.hiding.text(refused))
        if left <= 0:
            raise port.ProviderError(
                f"The answer was refused after {MAX_RETRIES + 1} tries: {refused}"
            )
        left -= 1
        text = (
            "Your answer was refused and nothing of it was staged. "
            f"Mend it and answer again, in full:\n{refused}"
        )


def _ask(
    run: AgentRun, talk: port.Conversation, text: str, retries: int, refused: str
) -> port.Answer:
    """One answer. One that does not come after another was refused says so, too."""
    try:
        return talk.ask(text, retries=retries, seconds=_seconds_left(run))
    except (port.ProviderTimeout, port.ProviderStopped):
        raise
    except port.ProviderError as error:
        if refused:
            raise port.ProviderError(f"The answer was refused: {refused} {error}") from None
        raise


def _seconds_left(run: AgentRun) -> float:
    if run.deadline_at is None:  # the claim sets it
        return 0.0
    return (run.deadline_at - timezone.now()).total_seconds()


def _sentences(error: RuleViolation) -> str:
    lines = [f"{path}: {' '.join(sentences)}" for path, sentences in error.details.items()]
    return "\n".join(lines) or error.message
