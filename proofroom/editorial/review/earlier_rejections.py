"""Earlier rejections, beside the proposal that comes for the same place again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.text import Truncator
from django.utils.translation import gettext as _

from content.layers import LayerView
from content.layers.rejected_changes import (
    EarlierRejection,
    rejections_before,
    rejections_before_queued,
)
from content.models import Post, QueuedChange

_SHOWN: Final = 3
_NOTE_IN_A_LINE: Final = 80


@dataclass(frozen=True, slots=True)
class EarlierRejectionNotes:
    """The rejections of a card, newest first; the older ones are folded."""

    newest: Sequence[EarlierRejection]
    older: Sequence[EarlierRejection]

    @property
    def has_same(self) -> bool:
        """Whether the same words were rejected before."""
        return any(one.is_same for one in (*self.newest, *self.older))


def load_earlier_rejections(post: Post, view: LayerView) -> dict[str, EarlierRejectionNotes]:
    """Return what the cards of a layer say, by path. One query."""
    return {
        path: EarlierRejectionNotes(ones[:_SHOWN], ones[_SHOWN:])
        for path, ones in rejections_before(post, view.changes).items()
    }


def rejection_reasons(rows: Iterable[QueuedChange]) -> Mapping[int, list[str]]:
    """Return what lines of the inbox say, by their ids. One query."""
    return {pk: _reasons(ones) for pk, ones in rejections_before_queued(rows).items()}


def _reasons(ones: Sequence[EarlierRejection]) -> list[str]:
    latest = next((one.note for one in ones if one.note), "")
    note = " ".join(Truncator(latest).chars(_NOTE_IN_A_LINE).split())
    said = _("rejected before: “%(note)s”") % {"note": note} if note else _("rejected before")
    same = [_("the same words were rejected")] if any(one.is_same for one in ones) else []
    return [said, *same]
