"""The rows of the queue as lines that a template shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.http import HttpRequest

from content.inbox.rows import from_json
from content.models import Layer, Post, QueuedChange, Status
from content.posts.reference_titles import load_titles
from content.review.cards import ShownLine
from content.review.cards import lines_of as drawn
from content.review.labels import type_label
from content.review.references import Wanted
from proofroom.core.admin.permissions import may
from proofroom.editorial.inbox.labels import age_of, flag_words, place_of, risk_word
from proofroom.editorial.posts.panels import RunView, describe_runs
from proofroom.editorial.posts.post_pages import post_url, review_url
from proofroom.editorial.posts.titles import title_of
from proofroom.editorial.review.earlier_rejections import rejection_reasons

_SHOWN: Final = 3
"""Lines of a change that stand open in a list."""


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of a person in the inbox."""

    submit: bool
    approve: bool
    reject: bool

    @classmethod
    def of(cls, request: HttpRequest) -> Rights:
        approves = may(request, "posts.review.approve")
        return cls(may(request, "posts.ai-review.approve"), approves, approves)

    def take(self, layer: str) -> bool:
        return self.submit if layer == Layer.AI_REVIEW else self.approve

    @property
    def any(self) -> bool:
        return self.submit or self.approve or self.reject


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One change that waits. `word` is what it is marked with: accept, reject or nothing."""

    row: QueuedChange
    post: Post
    title: str
    url: str
    post_url: str
    type: str
    place: str
    shown: tuple[ShownLine, ...]
    risk: int
    risk_word: str
    reasons: tuple[str, ...]
    who: str
    run: RunView | None
    may_take: bool
    may_reject: bool
    word: str

    @property
    def name(self) -> str:
        """Of its decision in the form: which row, and what of it was seen."""
        return name_of(self.row)

    @property
    def layer(self) -> str:
        return self.row.layer

    @property
    def is_proposed(self) -> bool:
        return self.post.is_placeholder

    @property
    def at(self) -> datetime:
        return self.row.at

    @property
    def age(self) -> str:
        return age_of(self.row.at)

    @property
    def first(self) -> tuple[ShownLine, ...]:
        return self.shown[:_SHOWN]

    @property
    def more(self) -> tuple[ShownLine, ...]:
        """What is folded where much differs: closed, but there."""
        return self.shown[_SHOWN:]

    @property
    def is_cut(self) -> bool:
        """Whether something that differs is left out."""
        return not self.row.is_whole

    @property
    def must_be_opened(self) -> bool:
        """Whether it cannot be accepted from a list: it is not safe, or the line leaves something out."""
        return self.risk > 1 or self.is_cut

    @property
    def reject_name(self) -> str:
        """Of its rejection in the form, where it cannot be accepted."""
        return reject_name_of(self.row)


def name_of(row: QueuedChange) -> str:
    return f"d.{row.pk}.{row.seen}"


def reject_name_of(row: QueuedChange) -> str:
    return f"x.{row.pk}.{row.seen}"


def build_queue_rows(
    request: HttpRequest,
    rows: Iterable[QueuedChange],
    *,
    words: dict[str, str] | None = None,
) -> list[QueueRow]:
    """`rows` are of `with_posts`. A query for runs, one for rejections, one for each kind of thing
    that changes refer to.

    `words` are decisions by name.
    """
    listed = list(rows)
    comparisons = [from_json(row.pieces) for row in listed]
    wanted = Wanted()
    for comparison in comparisons:
        wanted.add_differences(comparison.differences)
    references = load_titles(wanted)
    runs = describe_runs(request, (row.run_id for row in listed))
    rights = Rights.of(request)
    rejected = rejection_reasons(listed)
    return [
        _line(
            row,
            drawn(comparison, references),
            runs.get(row.run_id),
            rights,
            words or {},
            rejected.get(row.pk, ()),
        )
        for row, comparison in zip(listed, comparisons, strict=True)
    ]


def _line(
    row: QueuedChange,
    shown: tuple[ShownLine, ...],
    run: RunView | None,
    rights: Rights,
    words: dict[str, str],
    rejected: Sequence[str],
) -> QueueRow:
    weight: int = getattr(row, "weight", row.risk)
    return QueueRow(
        row=row,
        post=row.post,
        title=title_of(row.post, row),
        url=f"{review_url(row.post, row.layer)}#c-{row.path}",
        post_url=post_url("change", row.post),
        type=type_label(row.post.type),
        place=place_of(row),
        shown=shown,
        risk=weight,
        risk_word=risk_word(weight),
        reasons=(
            *flag_words(row.flags_live if row.post.status == Status.PUBLISHED else row.flags),
            *rejected,
        ),
        who=run.agent if run else row.agent_id or row.author_name,
        run=run,
        may_take=rights.take(row.layer),
        may_reject=rights.reject,
        word=words.get(name_of(row)) or words.get(reject_name_of(row), ""),
    )
