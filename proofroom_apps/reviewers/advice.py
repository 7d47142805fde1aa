"""The advice of reviewers: recorded beside the changes, never a decision on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from content.document.changes import Change
from content.document.labels import label_of, module_names
from content.models import Post
from content.store.digest import fingerprint
from content.store.layer_state import LayerView
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject
from proofroom_apps.reviewers.links import open_review
from proofroom_apps.reviewers.models import COMMENT_MAX, ReviewerAdvice, ReviewerLink, Verdict

GUEST: Final = Visitor(username="reviewer", role="visitor")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a reviewer says to one change. `verdict` is yes, no or empty."""

    verdict: str = ""
    comment: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.verdict or self.comment)


@dataclass(frozen=True, slots=True)
class AdviceSummary:
    """What one reviewer said, in numbers, for the history of a post."""

    name: str
    at: datetime
    yes: int
    no: int
    comments: int


@transaction.atomic
def give_advice(token: str, opinions: Mapping[str, Opinion]) -> ReviewerLink:
    """Store what a reviewer says, in place of what they said before. It changes nothing but this record.

    Raises as `open_review`, and `RuleViolation` on `advice` if a path is not of the link or nothing was said.
    """
    opened = open_review(token, locked=True)
    link, view = opened.link, opened.view
    changes = {change.path: change for change in opened.changes}
    given = {path: opinion for path, opinion in opinions.items() if not opinion.is_empty}
    if not given:
        raise invalid("advice", gettext("Choose Yes or No for a change, or write a comment."))
    for path, opinion in given.items():
        if path not in changes:
            raise invalid("advice", gettext("This link does not show all of these changes."))
        if opinion.verdict and opinion.verdict not in Verdict.values:
            raise invalid("advice", gettext("Choose Yes or No."))
        if len(opinion.comment) > COMMENT_MAX:
            message = gettext("A comment has at most %(n)s characters.")
            raise invalid("advice", message % {"n": COMMENT_MAX})
    names, now = module_names(view.document, view.below), timezone.now()
    link.advice.all().delete()
    ReviewerAdvice.objects.bulk_create(
        ReviewerAdvice(
            link=link,
            path=path,
            fingerprint=fingerprint(changes[path]),
            label=_label(changes[path], view, names),
            verdict=opinion.verdict,
            comment=opinion.comment,
            given_at=now,
        )
        for path, opinion in given.items()
    )
    payload: JsonObject = {
        "id": str(link.pk),
        "layer": link.layer,
        "yes": sum(one.verdict == Verdict.YES for one in given.values()),
        "no": sum(one.verdict == Verdict.NO for one in given.values()),
        "comments": sum(bool(one.comment) for one in given.values()),
    }
    # Without name and comments: the log is kept longer than the advice, and webhooks send it on.
    outbox.record(
        "post.reviewer-advice.given",
        actor=Actor(user=GUEST, via="site"),
        post_id=link.post_id,
        payload=payload,
    )
    return link


def _label(change: Change, view: LayerView, names: Mapping[str, str]) -> str:
    module_id = change.module_id
    is_there = module_id is None or view.document.module(module_id) is not None
    return label_of(change.path, view.document if is_there else view.below, names)


def advice_by_path(
    links: Iterable[ReviewerLink], seen: Mapping[str, str]
) -> dict[str, list[ReviewerAdvice]]:
    """Return the advice on changes that are still as the reviewer saw them, by path.

    `seen` are the fingerprints of the changes of a layer. Advice on a proposal follows it from AI Review to Review.
    """
    found: dict[str, list[ReviewerAdvice]] = {}
    for link in links:
        for advice in link.advice.all():
            if seen.get(advice.path) == advice.fingerprint:
                advice.link = link  # with its name, without a query
                found.setdefault(advice.path, []).append(advice)
    return found


def advice_history(post: Post) -> list[AdviceSummary]:
    """Return what each reviewer of a post said, newest first. One query."""
    rows = (
        ReviewerAdvice.objects.filter(link__post=post).select_related("link").order_by("-given_at")
    )
    by_link: dict[object, list[ReviewerAdvice]] = {}
    for row in rows:
        by_link.setdefault(row.link_id, []).append(row)
    return [
        AdviceSummary(
            name=given[0].link.name,
            at=given[0].given_at,
            yes=sum(row.verdict == Verdict.YES for row in given),
            no=sum(row.verdict == Verdict.NO for row in given),
            comments=sum(bool(row.comment) for row in given),
        )
        for given in by_link.values()
    ]
