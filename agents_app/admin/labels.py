"""Labels of agents and runs: names, models, durations, costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun
from agents_app.runs.labels import format_duration, format_money, format_tokens, tool_label
from proofroom.core.agent_directory import agent_name
from proofroom.core.models import Event

__all__ = [
    "SCOPE_LABELS",
    "agent_name",
    "duration",
    "format_money",
    "format_tokens",
    "is_demo",
    "model_label",
    "state_badge",
    "target_label",
    "tokens_of_answer",
]
_DEMO: Final = "demo"
_SIGNS: Final = {
    "queued": "…",
    "running": "▸",
    "succeeded": "✓",
    "failed": "✕",
    "cancelled": "⊘",
    "timed_out": "⧖",
    "declined": "–",
}
SCOPE_LABELS: Final[Mapping[Scope, Promise]] = {
    Scope.DROPDOWN: gettext_lazy("In the editor"),
    Scope.GLOBAL: gettext_lazy("Anywhere"),
    Scope.FIELD: gettext_lazy("In fields"),
    Scope.BULK: gettext_lazy("On many posts"),
    Scope.PUBLISH: gettext_lazy("When a post is published"),
    Scope.APPROVE: gettext_lazy("When changes go live"),
    Scope.REVIEW_SAVE: gettext_lazy("When changes are saved to Review"),
    Scope.REVIEW_APPROVE: gettext_lazy("When changes in Review are approved"),
    Scope.AI_REVIEW_SAVE: gettext_lazy("When an agent proposes changes"),
    Scope.AI_REVIEW_APPROVE: gettext_lazy("When proposals are submitted to Review"),
    Scope.CREATE_TRANSLATION: gettext_lazy("When a translation is created"),
    Scope.FORM_SUBMIT: gettext_lazy("When a form is submitted"),
}


def is_demo(run: AgentRun) -> bool:
    return run.provider == _DEMO


def actor_label(event: Event) -> str:
    """Return the name of the person or agent that caused an event; of an agent not its account's name."""
    return agent_name(event.agent_id) if event.agent_id else event.actor_name


def model_label(run: AgentRun) -> str:
    """Return the name of the model that answered, or a note that it was the demo."""
    if is_demo(run):
        return _("Demo (no AI)")
    return " ".join(part for part in (run.provider, run.model) if part)


def target_label(kind: str, target: str) -> str:
    """Return what a reaction of a type calls: the title of a tool, or a host."""
    return tool_label(target) if kind == "mcp_tool" else target


def tokens_of_answer(most: int | None) -> str:
    """Return the token limit of an answer as text; empty without a limit."""
    return format_tokens(most) if most else ""


def duration(run: AgentRun) -> str:
    """Return the duration of a finished run as text; empty if the run is unfinished or never started."""
    if run.started_at is None or run.finished_at is None:
        return ""
    seconds = max((run.finished_at - run.started_at).total_seconds(), 0.0)
    return format_duration(int(seconds * 1000))


def state_badge(run: AgentRun) -> SafeString:
    """Return the status of a run as a badge with a sign and a word."""
    return format_html(
        '<span class="badge badge-{} run-state"><span aria-hidden="true">{}</span> {}</span>',
        run.outcome,
        _SIGNS.get(run.outcome, ""),
        run.get_outcome_display(),
    )
