"""Labels of runs and steps, and the progress messages of a run, in the active language.

The worker stores English sentences; they are translated here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, timedelta
from decimal import Decimal
from typing import Final

from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agents_app.models import AgentRun, RunStatus, RunStep
from proofroom.core.json import JsonObject
from proofroom.core.tools import get_tool

_SMALLEST: Final = Decimal("0.0001")
HEARTBEAT_MISSED_AFTER: Final = timedelta(seconds=15)
"""Three heartbeats, which is before the sweep takes the run from its worker."""
LONG_QUEUE_AFTER: Final = timedelta(seconds=60)
_STANDING: Final[Mapping[str, Promise]] = {
    "silent": gettext_lazy(
        "The worker stopped responding. If it does not come back, the run "
        "restarts automatically in about a minute."
    ),
    "again": gettext_lazy(
        "The worker stopped before the run finished. The run restarts as soon as a worker is free."
    ),
    "waits": gettext_lazy(
        "Still in the queue. If it does not start, check that a worker is "
        "running. You can cancel at any time."
    ),
}


def format_money(amount: Decimal | None) -> str:
    """Return US dollars with the significant digits; empty for an unknown price."""
    if amount is None:
        return ""
    if 0 < amount < _SMALLEST:
        return _("less than $%(amount)s") % {"amount": number_format(_SMALLEST, 4)}
    digits = 2 if amount == 0 or amount >= 1 else 4
    return f"${number_format(amount, digits, force_grouping=True)}"


def format_tokens(number: int) -> str:
    """Return a number of tokens as text."""
    text = number_format(number, force_grouping=True)
    return ngettext("%(n)s token", "%(n)s tokens", number) % {"n": text}


def format_duration(milliseconds: int) -> str:
    """Return a duration as text: "310 ms", "4.2 s", "2 min 5 s"."""
    if milliseconds < 1000:
        return _("%(n)d ms") % {"n": milliseconds}
    seconds = milliseconds / 1000
    if seconds < 60:
        return _("%(n)s s") % {"n": number_format(round(seconds, 1), 1)}
    return _("%(minutes)d min %(seconds)d s") % {
        "minutes": int(seconds) // 60,
        "seconds": int(seconds) % 60,
    }


def tool_label(name: str) -> str:
    """Return the title of a tool; its name if it no longer exists."""
    tool = get_tool(name)
    return tool.title if tool else name


def step_label(step: RunStep) -> str:
    """Return the name of a step: the title of the tool, or the name of the model."""
    return tool_label(step.name) if step.kind == "tool" else step.name


def step_kind(step: RunStep) -> str:
    return _("tool") if step.kind == "tool" else _("model")


def delay_message(run: AgentRun) -> str:
    """Return `silent` without heartbeats, `again` after a lost worker, `waits` after a long time in the queue."""
    now = timezone.now()
    if run.status == RunStatus.RUNNING:
        is_silent = run.heartbeat_at is not None and run.heartbeat_at < now - HEARTBEAT_MISSED_AFTER
        return "silent" if is_silent else ""
    if run.status != RunStatus.QUEUED:
        return ""
    if run.attempts:
        return "again"
    return "waits" if run.created_at < now - LONG_QUEUE_AFTER else ""


def activity_label(run: AgentRun) -> str:
    """Describe the current activity of a run: what it does, that it waits, or what happens next if it is stuck."""
    standing = delay_message(run)
    if standing:
        return str(_STANDING[standing])
    if not run.doing:
        if run.status == RunStatus.RUNNING:
            return _("Starting")
        return "" if run.is_finished else _("In the queue")
    return translate_activity(run.doing)


def translate_activity(doing: str) -> str:
    """Translate the worker's activity text; unknown texts stay unchanged."""
    for pattern, translate in _DOING:
        found = pattern.fullmatch(doing)
        if found:
            return translate(found.groups())
    return doing


def _writing(found: Sequence[str]) -> str:
    words = int(found[0].replace(",", ""))
    text = number_format(words, force_grouping=True)
    return ngettext(
        "Writing, about %(n)s word so far", "Writing, about %(n)s words so far", words
    ) % {"n": text}


# The English texts that a worker stores in `doing`.
_DOING: Final[Sequence[tuple[re.Pattern[str], Callable[[Sequence[str]], str]]]] = (
    (re.compile(r"Waiting for the model"), lambda _found: _("Waiting for the model")),
    (re.compile(r"Writing, about ([\d,]{1,12}) words so far"), _writing),
    (
        re.compile("Calling a tool that does not exist"),
        lambda _found: _("Calling a tool that does not exist"),
    ),
    (
        re.compile(r"Calling (\w{1,120})"),
        lambda found: _("Using %(tool)s") % {"tool": tool_label(found[0])},
    ),
)


def progress_version(run: AgentRun) -> tuple[object, ...]:
    """Return a value that changes whenever the run has news. Every step changes usage or activity."""
    used = (run.input_tokens, run.output_tokens, run.cost)
    return (run.status, run.doing, *used, run.started_at, delay_message(run))


def run_progress(run: AgentRun, steps: Iterable[RunStep]) -> JsonObject:
    """Return the progress of a run, small enough to send on every change."""
    used = run.input_tokens + run.output_tokens
    since = run.started_at
    return {
        "status": run.status,
        "outcome": run.outcome,
        "label": run.get_outcome_display(),
        "isFinished": run.is_finished,
        "succeeded": run.status == RunStatus.SUCCEEDED,
        "doing": activity_label(run),
        "standing": delay_message(run),
        "tokens": format_tokens(used),
        "cost": format_money(run.cost),
        "startedAt": since.astimezone(UTC).isoformat() if since else None,
        "steps": step_lines(list(steps)),
    }


def step_lines(steps: Sequence[RunStep]) -> list[JsonObject]:
    """Return the steps for a page's list."""
    return [
        {
            "n": step.number,
            "kind": step.kind,
            "kindLabel": step_kind(step),
            "name": step_label(step),
            "ok": step.ok,
            "ms": step.milliseconds,
            "took": format_duration(step.milliseconds),
            "summary": step.summary,
        }
        for step in steps
    ]
