"""A run at work: claimed, asked, validated, staged. Whatever dies on the way, half an answer is never staged.

A worker owns a run by its `attempt`; the row turns `succeeded` in the very transaction that stages the answer,
and only while the attempt is still the worker's own.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from agents_app.models import AgentRun, RunStatus
from agents_app.providers import port
from agents_app.providers.choices import resolve
from agents_app.running.ending import end_run
from agents_app.running.finishing import finish
from agents_app.running.heartbeat import Heartbeat
from agents_app.running.hiding import Hiding
from agents_app.running.owning import at_work, own, stopped
from agents_app.running.payloads import canonical_payload, field_payload, source_of
from agents_app.running.prompt import fenced, system_prompt
from agents_app.running.prompt_versions import keep_version
from agents_app.running.rejections import with_rejections
from agents_app.running.steps import mark_refused
from agents_app.running.suggestion import output_type
from agents_app.running.task import Task, prepare
from agents_app.running.toolset import RunToolbox
from agents_app.running.transcript import Transcript
from agents_app.running.watching import RunWatcher, ToldToolbox
from agents_app.runs.queue import held_back
from core.availability import is_database_away, log_database_away
from core.errors import CmsError, RuleViolation
from core.json import JsonObject

logger = logging.getLogger(__name__)
RETRIES: Final = 2
"""How often an invalid answer is sent back, be it wrong in form or against a rule of the content."""


def execute(run_id: UUID | str) -> None:
    """Do a run, if it waits to be done. Safe to call any number of times."""
    run = _claim(run_id)
    if run is None:
        return
    hiding = Hiding(run.context.get("untrusted"))
    try:
        with Heartbeat(run) as heartbeat, at_work(run):
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


def _work(run: AgentRun, heartbeat: Heartbeat, hiding: Hiding) -> None:
    task = prepare(run)
    choice = resolve(task.agent)
    version = keep_version(task.agent)
    if not own(run).update(provider=choice.provider, model=choice.model, prompt_version=version):
        raise stopped()
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
    _converse(task, talk, fenced(run, payload), transcript)


def _toolbox(task: Task, watcher: RunWatcher) -> port.Toolbox | None:
    if not task.agent.llm_config.use_mcp:
        return None
    return ToldToolbox(RunToolbox(task), watcher.doing)


def _payload(task: Task) -> JsonObject:
    document = task.layers.ai_review.document if task.layers else None
    if task.layers is not None and task.post is not None and task.target is not None:
        payload = field_payload(task.run, task.post, task.layers, task.target)
    else:
        source = source_of(task.post, task.agent, task.actor)
        payload = canonical_payload(task.run, task.post, document, source)
    return with_rejections(payload, task.post, document, task.target)


def _converse(task: Task, talk: port.Conversation, text: str, transcript: Transcript) -> None:
    """Ask until an answer can be staged whole, sending back what was wrong with the one before."""
    left, refused = RETRIES, ""
    while True:
        try:
            answer = _ask(task.run, talk, text, left, refused)
        finally:
            transcript.keep()
        left -= answer.retried
        try:
            return finish(task, answer.output, transcript.hiding)
        except RuleViolation as error:
            refused = _sentences(error)
        mark_refused(task.run, transcript.hiding.text(refused))
        if left <= 0:
            raise port.ProviderError(f"The answer was refused after {RETRIES + 1} tries: {refused}")
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
