"""The filter of the summary, read from its address: the days, and the post if it is about one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.rollups.periods import Period, read_period
from content.models import Post
from proofroom.core.errors import RuleViolation

SPANS: Final = {
    "7": gettext_lazy("7 days"),
    "30": gettext_lazy("30 days"),
    "90": gettext_lazy("90 days"),
    "month": gettext_lazy("This month"),
    "last-month": gettext_lazy("Last month"),
}
USUAL: Final = "30"
_FOUND_MOST: Final = 10
_TEXT_MAX: Final = 200
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SummaryFilter:
    """`span` is empty where the days are of their own. `problems` say why something is not shown as asked."""

    period: Period
    span: str
    post: Post | None = None
    text: str = ""
    found: list[Post] = field(default_factory=list)
    """Posts that a search came to, where it was not exactly one."""
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def of_days(self) -> str:
        """The part of an address that means these days."""
        if self.span:
            return urlencode({"span": self.span})
        return urlencode({"from": self.period.first, "to": self.period.last})

    @property
    def of_post(self) -> str:
        return f"&postId={self.post.pk}" if self.post else ""

    @property
    def query(self) -> str:
        return f"{self.of_days}{self.of_post}"


def read_asked(params: Mapping[str, str]) -> SummaryFilter:
    """At most two statements. What is odd is said in `problems`, and the usual is shown."""
    problems: dict[str, str] = {}
    period, span = _days(params, problems)
    text = params.get("post", "").strip()[:_TEXT_MAX]
    post = _post(params.get("postId", "") or text, problems)
    found = [] if post is not None or not text else _search(text)
    if len(found) == 1:
        post, found = found[0], []
    elif text and not found and post is None:
        problems["post"] = _("No post has that in its title or address.")
    return SummaryFilter(period, span, post, "" if post else text, found, problems)


def _days(params: Mapping[str, str], problems: dict[str, str]) -> tuple[Period, str]:
    own = {name: params[name] for name in ("from", "to") if params.get(name)}
    if own:
        try:
            return read_period(own), ""
        except RuleViolation as error:
            problems.update({name: " ".join(texts) for name, texts in error.details.items()})
    span = params.get("span", USUAL)
    return _span(span if span in SPANS else USUAL)


def _span(span: str) -> tuple[Period, str]:
    today = timezone.now().astimezone(UTC).date()
    month = today.replace(day=1)
    if span == "month":
        return Period(month, today), span
    if span == "last-month":
        last = month - _DAY
        return Period(last.replace(day=1), last), span
    return Period(today - (int(span) - 1) * _DAY, today), span


def _post(text: str, problems: dict[str, str]) -> Post | None:
    try:
        id_ = UUID(text)
    except ValueError:
        return None
    post = Post.objects.kept().filter(pk=id_).first()
    if post is None:
        problems["post"] = _("There is no such post.")
    return post


def _search(text: str) -> list[Post]:
    named = Q(title__icontains=text) | Q(path__icontains=text)
    return list(Post.objects.alive().filter(named).order_by("-updated_at")[:_FOUND_MOST])
