"""The end of a run that answered: its whole answer staged and the run succeeded, or neither."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from django.db import transaction
from django.utils import timezone
from pydantic import BaseModel

from agents_app.models import AgentRun, RunStatus
from agents_app.running.ending import lock_posts
from agents_app.running.hiding import Hiding
from agents_app.running.new_links import refuse_new_links
from agents_app.running.owning import own, stopped
from agents_app.running.suggestion import (
    FieldSuggestion,
    Suggestion,
    edit_for,
    proposes_nothing,
    value_of,
)
from agents_app.running.task import Task
from agents_app.running.written import paths_by_tools
from agents_app.runs.events import record_run_end
from agents_app.runs.queue import wake_next
from content.layers import stage
from content.models import Layer
from core.errors import RuleViolation
from core.json import Json


@transaction.atomic
def finish(task: Task, output: BaseModel, hiding: Hiding) -> None:
    """Stage the answer and end the run. Raises `RuleViolation` where the answer cannot stand."""
    answer = cast("Suggestion | FieldSuggestion", output)
    refuse_new_links(task.run, task.agent, task.layers, answer)
    value: Json = None
    if isinstance(answer, FieldSuggestion):
        value = _value(task, answer)
        answer = FieldSuggestion(value=value, summary=answer.summary)
    if task.run.is_dry:
        _rehearse(task, answer)
        value = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    lock_posts(task.run)
    taken = own(task.run).update(
        status=RunStatus.SUCCEEDED,
        finished_at=timezone.now(),
        summary=hiding.text(answer.summary or ""),
        value=value,
        doing="",
    )
    if not taken:
        raise stopped()
    staged = paths_by_tools(task.run)
    if not proposes_nothing(answer) and task.run.stages_value:
        staged = list(dict.fromkeys([*staged, *_stage(task, answer)]))
    AgentRun.objects.filter(pk=task.run.pk).update(staged=staged)
    task.run.status = RunStatus.SUCCEEDED
    record_run_end(task.run, task.actor)
    wake_next(task.run)


def _value(task: Task, answer: FieldSuggestion) -> Json:
    if task.target is None or task.layers is None:
        raise ValueError("a field suggestion needs the field")
    return value_of(answer, task.target, task.layers.ai_review.document)


class _Rehearsed(Exception):
    """Rolls back what was staged to see whether it can be."""


def _rehearse(task: Task, answer: Suggestion | FieldSuggestion) -> None:
    """Raises `RuleViolation` where the answer could not be staged; nothing of it stays."""
    if proposes_nothing(answer):
        return
    with suppress(_Rehearsed), transaction.atomic():
        _stage(task, answer)
        raise _Rehearsed


def _stage(task: Task, answer: Suggestion | FieldSuggestion) -> tuple[str, ...]:
    if task.post is None:
        message = "There is no post here: answer with a summary only."
        raise RuleViolation(message, details={"post": [message]})
    return stage(
        post_id=task.post.pk,
        layer=Layer.AI_REVIEW,
        actor=task.actor,
        edit=edit_for(answer, task.target),
    ).paths
