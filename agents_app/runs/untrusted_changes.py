"""Find pending changes made by runs that had read untrusted input. Until a person judged them, nobody vouches."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from agents_app.models import AgentRun
from content.layers import Layers
from content.layers.marks import Mark, read_marks
from content.models import Draft
from proofroom.core.json import Json


def has_untrusted_changes(layers: Layers) -> bool:
    """Return whether a layer of the post that is not live holds such changes."""
    return _is_any_untrusted(
        mark for view in (layers.review, layers.ai_review) for mark in view.marks.values()
    )


def post_has_untrusted_changes(post_id: Json) -> bool:
    """The same of a post by its id, as a tool was given it."""
    found = _uuid(post_id)
    if found is None:
        return False
    drafts = Draft.objects.filter(post_id=found, is_empty=False).values_list("marks", flat=True)
    return _is_any_untrusted(mark for marks in drafts for mark in read_marks(marks).values())


def _is_any_untrusted(marks: Iterable[Mark]) -> bool:
    runs = {id_ for mark in marks if mark.is_agents and (id_ := _uuid(mark.run_id)) is not None}
    return bool(runs) and AgentRun.objects.filter(pk__in=runs, has_read_untrusted=True).exists()


def _uuid(text: Json) -> UUID | None:
    try:
        return UUID(text) if isinstance(text, str) else None
    except ValueError:
        return None
