"""What becomes of a new proposal beside those that wait already, said before it is asked for and chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from agents_app.runs.fields import FieldTarget
from agents_app.runs.retry import pending_marks
from content.layers import Layers
from content.layers.marks import Mark
from content.models import Layer


@dataclass(frozen=True, slots=True)
class ProposalEffect:
    """A sentence; `is_careful` where a person's words are at stake."""

    text: str
    is_careful: bool = False


def proposal_effects(layers: Layers, target: FieldTarget) -> list[ProposalEffect]:
    """What the new proposal does to what waits for the field in AI Review and in Review."""
    found = [
        _in_ai_review(pending_marks(layers, target, Layer.AI_REVIEW)),
        _in_review(pending_marks(layers, target, Layer.REVIEW)),
    ]
    return [one for one in found if one is not None]


def _in_ai_review(hands: Sequence[Mark]) -> ProposalEffect | None:
    if not hands:
        return None
    person = _person(hands)
    if not person:
        return ProposalEffect(
            _("The new proposal takes the place of the one that waits in AI Review.")
        )
    text = _(
        "%(who)s wrote or edited what waits in AI Review here. The new proposal takes the place of those words."
    )
    return ProposalEffect(text % {"who": person}, is_careful=True)


def _in_review(hands: Sequence[Mark]) -> ProposalEffect | None:
    if not hands:
        return None
    person = _person(hands)
    if not person:
        return ProposalEffect(
            _(
                "A proposal waits in Review. The new one goes to AI Review, and takes its place once it is submitted."
            )
        )
    text = _(
        "%(who)s wrote or edited what waits in Review here. The new proposal is a second one, in AI Review: "
        "submitting it does not replace those words, it stands beside them as a conflict until you settle it."
    )
    return ProposalEffect(text % {"who": person}, is_careful=True)


def _person(hands: Sequence[Mark]) -> str:
    """The last person whose hand is in it; empty where the words are agents' alone."""
    people = [mark for mark in hands if not mark.is_agents]
    if not people:
        return ""
    last = max(people, key=lambda mark: mark.at)
    return last.edited_by or last.user
