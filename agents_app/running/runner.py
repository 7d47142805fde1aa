"""A run at work: claimed, asked, validated, staged. Whatever dies on the way, half an answer is never staged.

A worker owns a run by its `attempt`; the row turns `succeeded` in the very transaction that stages the answer,
and only while the attempt is still the worker's own.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, cast
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from pydantic import BaseModel

from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.switches import account_of, enabled_agent
from agents_app.models import AgentRun, RunStatus
from agents_app.providers import port
from agents_app.running.fields import FieldTarget, find_field
from agents_app.running.heartbeat import Heartbeat
from agents_app.running.prompt import canonical_payload, fenced, field_payload, system_prompt
from agents_app.running.steps import (
    SUMMARY_MAX,
    Earlier,
    earlier_attempts,
    keep_usage,
    mark_refused,
)
from agents_app.running.suggestion import (
    FieldSuggestion,
    Suggestion,
    edit_for,
    output_type,
    proposes_nothing,
)
from agents_app.runs.events import record_run_end
from agents_app.runs.queue import held_back, wake_next
from content.layers import Layers, open_layers, stage
from content.models import Layer, Post
from core.actor import Actor
from core.errors import CmsError, NotAllowed, NotFound, RuleViolation
from core.json import Json

logger = logging.getLogger(__name__)
RETRIES: Final = 2
"""How often an invalid answer is sent back, be it wrong in form or against a rule of the content."""


class _Lost(Exception):
    """The run is no longer this worker's: cancelled, or given to another."""


@dataclass(slots=True)
class _Task:
    """What one attempt works on."""

    run: AgentRun
    earlier: Earlier
    agent: AgentDefinition
    actor: Actor
    post: Post | None
    layers: Layers | None
    target: FieldTarget | None


def execute(run_id: UUID | str) -> None:
    """Do a run, if it waits to be done. Safe to call any number of times."""
    run = _claim(run_id)
    if run is None:
        return
    try:
        with Heartbeat(run) as heartbeat:
            _work(run, heartbeat)
    except (_Lost, port.ProviderStopped):
        logger.info("run %s was taken from this worker; nothing was staged", run.pk)
    except port.ProviderTimeout as error:
        _end(run, RunStatus.TIMED_OUT, str(error))
    except port.ProviderError as error:
        _end(run, RunStatus.FAILED, str(error))
    except CmsError as error:
        _end(run, RunStatus.FAILED, error.message)
    except Exception:
        reference = uuid4().hex[:12]
        logger.exception("run %s failed, reference %s", run.pk, reference)
        _end(run, RunStatus.FAILED, f"Something went wrong here; it was logged as {reference}.")


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


def _work(run: AgentRun, heartbeat: Heartbeat) -> None:
    task = _prepare(run)
    choice = port.resolve(task.agent)
    if not _own(run).update(provider=choice.provider, model=choice.model):
        raise _Lost
    document = task.layers.ai_review.document if task.layers else None
    if task.layers is not None and task.post is not None and task.target is not None:
        payload = field_payload(run, task.post, task.layers, task.target)
    else:
        payload = canonical_payload(run, task.post, document)
    talk = port.open_conversation(
        task.agent,
        choice,
        system_prompt=system_prompt(task.agent, run, document),
        payload=payload,
        output_type=output_type(run.scope),
    )
    heartbeat.on_lost = talk.stop
    _converse(task, talk, fenced(payload))


def _prepare(run: AgentRun) -> _Task:
    """What the run needs, as it stands now. Raises `NotFound` or `NotAllowed` where something is gone."""
    earlier = earlier_attempts(run)
    agent = enabled_agent(run.agent_id)
    account = account_of(agent)
    if account is None:
        raise NotAllowed(
            f"The account of the agent {agent.id} is switched off, so it cannot write."
        )
    actor = Actor(
        user=account,
        via="agent",
        agent_id=agent.id,
        run_id=str(run.pk),
        event_id=run.event_id,
        hop=run.hop + 1,
    )
    if run.post_id is None:
        return _Task(run, earlier, agent, actor, None, None, None)
    post = Post.objects.filter(pk=run.post_id, deleted_at__isnull=True).first()
    if post is None:
        raise NotFound("The post was deleted before the run began.")
    layers = open_layers(post)
    target = None
    if run.scope == "field":
        target = find_field(layers.ai_review.document, run.field_key, run.post_module_id or None)
    return _Task(run, earlier, agent, actor, post, layers, target)


def _converse(task: _Task, talk: port.Conversation, text: str) -> None:
    """Ask until an answer can be staged whole, sending back what was wrong with the one before."""
    left, refused = RETRIES, ""
    while True:
        answer = _ask(task, talk, text, left, refused)
        left -= answer.retried
        try:
            return _finish(task, answer.output)
        except RuleViolation as error:
            refused = _sentences(error)
        mark_refused(task.run, refused)
        if left <= 0:
            raise port.ProviderError(f"The answer was refused after {RETRIES + 1} tries: {refused}")
        left -= 1
        text = (
            "Your answer was refused and nothing of it was staged. "
            f"Mend it and answer again, in full:\n{refused}"
        )


def _ask(
    task: _Task, talk: port.Conversation, text: str, retries: int, refused: str
) -> port.Answer:
    """One answer, with its use written down whatever comes of it."""
    try:
        return talk.ask(text, retries=retries, seconds=_seconds_left(task.run))
    except (port.ProviderTimeout, port.ProviderStopped):
        raise
    except port.ProviderError as error:
        if refused:
            raise port.ProviderError(f"The answer was refused: {refused} {error}") from None
        raise
    finally:
        keep_usage(task.run, talk.usage, task.earlier)


@transaction.atomic
def _finish(task: _Task, output: BaseModel) -> None:
    """Stage the whole answer and end the run, or neither. Raises `RuleViolation` where the answer cannot stand."""
    answer = cast("Suggestion | FieldSuggestion", output)
    value: Json = answer.value if isinstance(answer, FieldSuggestion) else None
    taken = _own(task.run).update(
        status=RunStatus.SUCCEEDED,
        finished_at=timezone.now(),
        summary=answer.summary or "",
        value=value,
    )
    if not taken:
        raise _Lost
    if not proposes_nothing(answer) and task.run.stages_value:
        if task.post is None:
            message = "There is no post here: answer with a summary only."
            raise RuleViolation(message, details={"post": [message]})
        staged = stage(
            post_id=task.post.pk,
            layer=Layer.AI_REVIEW,
            actor=task.actor,
            edit=edit_for(answer, task.target),
        )
        AgentRun.objects.filter(pk=task.run.pk).update(staged=list(staged.paths))
    task.run.status = RunStatus.SUCCEEDED
    record_run_end(task.run, task.actor)
    wake_next(task.run)


@transaction.atomic
def _end(run: AgentRun, status: RunStatus, error: str) -> None:
    changed = _own(run).update(status=status, error=error[:SUMMARY_MAX], finished_at=timezone.now())
    if changed:
        run.status = status
        record_run_end(run)
        wake_next(run)


def _own(run: AgentRun) -> QuerySet[AgentRun]:
    """The run, while it is still this worker's."""
    return AgentRun.objects.filter(pk=run.pk, attempt=run.attempt, status=RunStatus.RUNNING)


def _seconds_left(run: AgentRun) -> float:
    if run.deadline_at is None:  # the claim sets it
        return 0.0
    return (run.deadline_at - timezone.now()).total_seconds()


def _sentences(error: RuleViolation) -> str:
    lines = [f"{path}: {' '.join(sentences)}" for path, sentences in error.details.items()]
    return "\n".join(lines) or error.message
