"""The answers of all tries about one field, side by side with what stands there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse

from agents_app.admin.run_dialog.retry import proposal_effects
from agents_app.admin.runs.field_values import Shown, field_view
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.fields import find_field
from agents_app.runs.retry import run_candidates
from content.changes import same
from content.layers import Layers
from core.errors import RuleViolation
from core.words import in_words


@dataclass(frozen=True, slots=True)
class Answer:
    """One try. `shown` is None where nothing was answered; `is_here` where it is the page's own run.

    `is_same`: it answered what stands there without it.
    """

    number: int
    run_id: str
    note: str
    status: str
    status_label: str
    at: datetime
    shown: Shown | None
    is_here: bool
    is_staged: bool
    is_same: bool
    url: str
    use_url: str


def candidates_context(run: AgentRun, layers: Layers) -> dict[str, Any]:
    """What the page of a field's run shows; nothing for other runs."""
    if run.scope != Scope.FIELD:
        return {}
    proposed, below = layers.ai_review.document, layers.ai_review.below
    try:
        target = find_field(proposed, run.field_key, run.post_module_id or None)
    except RuleViolation as error:
        return {"field_gone": error.message}
    tries = run_candidates(run)
    # Nothing stands below AI Review where the module is only proposed.
    has_before = target.module_id is None or target.module(below)
    before = target.value(below) if has_before else None
    view = field_view(target, proposed, [before, *(one.value for one in tries)])
    waiting = target.value(proposed)
    is_proposed = not same(waiting, before)
    answers = [
        Answer(
            number=number,
            run_id=str(one.run_id),
            note=one.note,
            status=one.status,
            status_label=in_words(str(RunStatus(one.status).label)),
            at=one.created_at,
            shown=view.change(before, one.value) if one.is_one else None,
            is_here=one.run_id == run.pk,
            is_staged=is_proposed and same(waiting, one.value),
            is_same=same(before, one.value),
            url=reverse("admin:agents_app_agentrun_change", args=[one.run_id]),
            use_url=reverse("admin:agents_app_run_use", args=[one.run_id]),
        )
        for number, one in enumerate(tries, 1)
    ]
    return {
        "field": view,
        "answers": answers[::-1],
        "now": view.now(before),
        "proposal_effects": [one for one in proposal_effects(layers, target) if one.is_careful],
    }
