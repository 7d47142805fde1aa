"""What a dry run would have proposed, as the review would show it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from pydantic import ValidationError

from agents_app.models import AgentRun
from agents_app.runs.suggestion import Suggestion, edit_for
from content.changes import diff
from content.layers import Layers
from content.reference_queries import references_of
from content.review.cards import cards_between
from core.errors import CmsError


def rehearsed_context(run: AgentRun, layers: Layers) -> dict[str, Any]:
    """The cards of a dry run that answered, over the post as it stands now; nothing for other runs."""
    if not run.is_dry or run.value is None:
        return {}
    before = layers.ai_review.document
    try:
        after = edit_for(Suggestion.model_validate(run.value))(before)
    except (CmsError, ValidationError):
        return {"rehearsed_problem": _("The post has changed so far that it fits no more.")}
    changes = diff(before, after)
    groups = cards_between(before, after, changes, references_of(changes, before, after))
    return {"rehearsed": groups, "rehearsed_count": len(changes)}
