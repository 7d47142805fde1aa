"""What came of a run, in words: the fate of each change, and what to do where it failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.models import AgentRun, RunStatus
from agents_app.runs.outcomes import ProposalOutcome, proposal_outcomes
from content.admin.pages import review_url
from content.admin.review.rejections import rejections_of_run
from content.layers import Layers
from content.models import Layer, Post
from content.review.labels import label_of, module_names
from core.admin.rights import may

_WORDS: Final[Mapping[ProposalOutcome, tuple[Promise, str]]] = {
    ProposalOutcome.WAITING: (gettext_lazy("waits in AI Review"), "ai-review"),
    ProposalOutcome.SUBMITTED: (gettext_lazy("waits in Review"), "review"),
    ProposalOutcome.ACCEPTED: (gettext_lazy("accepted"), "succeeded"),
    ProposalOutcome.EDITED: (gettext_lazy("accepted with edits"), "succeeded"),
    ProposalOutcome.REJECTED: (gettext_lazy("rejected"), "gone"),
    ProposalOutcome.TAKEN_BACK: (gettext_lazy("taken back"), "archived"),
    ProposalOutcome.GONE: (gettext_lazy("overwritten since"), "archived"),
}


@dataclass(frozen=True, slots=True)
class Proposed:
    """One change of a run: where, and what became of it."""

    label: str
    word: str
    look: str
    is_waiting: bool


def proposed_context(run: AgentRun, post: Post, layers: Layers) -> dict[str, Any]:
    """What the page of a run says of what it proposed."""
    document = layers.ai_review.document
    names = module_names(document, layers.live)
    fates = proposal_outcomes(run, layers)
    staged = [
        Proposed(
            label_of(path, document, names),
            str(_WORDS[fate][0]),
            _WORDS[fate][1],
            fate == ProposalOutcome.WAITING,
        )
        for path, fate in fates.items()
    ]
    return {
        "staged": staged,
        "review_url": f"{review_url(post, Layer.AI_REVIEW)}&run={run.pk}",
        "waiting": len(layers.ai_review.changes),
        "waiting_of_run": sum(one.is_waiting for one in staged),
        "submitted_of_run": sum(fate == ProposalOutcome.SUBMITTED for fate in fates.values()),
        "submitted_url": review_url(post, Layer.REVIEW),
        "rejections": rejections_of_run(post, layers, str(run.pk), run.staged, run.created_at),
    }


def hint_context(request: HttpRequest, run: AgentRun) -> dict[str, str]:
    """What to do about a run that brought nothing."""
    if run.status not in (RunStatus.FAILED, RunStatus.TIMED_OUT):
        return {}
    error = run.error.lower()
    if run.status == RunStatus.TIMED_OUT:
        hint = _(
            "Nothing was staged. Try again; if it takes too long again, ask for less at a time."
        )
    elif error.startswith("the budget"):
        hint = _("Nothing was staged. Wait until the budget begins anew, or raise it.")
    elif error.startswith("its worker stopped"):
        hint = _("The process that did it was ended from outside. Try again.")
    elif "refused after" in error:
        hint = _("Nothing was staged. Try again, and say in the note what the answer should be.")
    else:
        hint = _("Nothing was staged. Try again; where it fails again, look who answers.")
    is_about_settings = may(request, "agents.edit") and run.status == RunStatus.FAILED
    url = reverse("admin:agents_app_aisettings_changelist") if is_about_settings else ""
    return {"hint": hint, "hint_url": url}
