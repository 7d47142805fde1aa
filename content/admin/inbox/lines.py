"""The rows of the queue as lines that a template shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest

from content.admin.inbox.words import age_of, place_of, reason_words, risk_word, type_label
from content.admin.pages import post_url, review_url
from content.admin.panels import RunView, describe_runs
from content.admin.review.rejected_before import rejection_reasons
from content.admin.titles import title_of
from content.models import Layer, Post, QueuedChange
from content.review.diff import Segment, diff_text
from core.admin.rights import may


@dataclass(frozen=True, slots=True)
class Rights:
    """What a person may do with what waits."""

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
class Line:
    """One change that waits. `word` is what it is marked with: accept, reject or nothing."""

    row: QueuedChange
    post: Post
    title: str
    url: str
    post_url: str
    type: str
    place: str
    segments: tuple[Segment, ...]
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
    def must_be_opened(self) -> bool:
        """Whether the line leaves something out, so that it cannot be accepted from here."""
        return not self.row.is_whole


def name_of(row: QueuedChange) -> str:
    return f"d.{row.pk}.{row.seen}"


def lines_of(
    request: HttpRequest,
    rows: Iterable[QueuedChange],
    *,
    words: dict[str, str] | None = None,
) -> list[Line]:
    """`rows` are of `with_posts`. Two queries more, for runs and rejections; `words` are decisions by name."""
    listed = list(rows)
    runs = describe_runs(request, (row.run_id for row in listed))
    rights = Rights.of(request)
    rejected = rejection_reasons(listed)
    return [
        _line(row, runs.get(row.run_id), rights, words or {}, rejected.get(row.pk, ()))
        for row in listed
    ]


def _line(
    row: QueuedChange,
    run: RunView | None,
    rights: Rights,
    words: dict[str, str],
    rejected: Sequence[str],
) -> Line:
    weight: int = getattr(row, "weight", row.risk)
    return Line(
        row=row,
        post=row.post,
        title=title_of(row.post, row),
        url=f"{review_url(row.post, row.layer)}#c-{row.path}",
        post_url=post_url("change", row.post),
        type=type_label(row.post.type),
        place=place_of(row),
        segments=tuple(diff_text(row.before, row.after)),
        risk=weight,
        risk_word=risk_word(weight),
        reasons=(*reason_words(row), *rejected),
        who=run.agent if run else row.agent_id or row.author_name,
        run=run,
        may_take=rights.take(row.layer),
        may_reject=rights.reject,
        word=words.get(name_of(row), ""),
    )
