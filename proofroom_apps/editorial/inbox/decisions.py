"""Decisions of the inbox: parsed from a form, executed or handed to a batch, and reported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.inbox.decision_batches import MAX_BATCH_CHANGES, begin_batch
from content.inbox.decisions import MAX_DECISIONS, InboxOutcome, Marked, Word, decide_queued
from content.inbox.queries import filter_safe_rows
from content.models import QueuedChange
from proofroom.core.admin.permissions import actor_of
from proofroom.core.errors import Conflict
from proofroom_apps.editorial.inbox.queue_rows import Rights
from proofroom_apps.editorial.review.confirmations import take_back_button

# At most 18 digits, which always fit the 64-bit id.
_PACKED: Final = re.compile(r"(\d{1,18})\.([0-9a-f]{20,32})")
_NAME: Final = re.compile(rf"([dx])\.{_PACKED.pattern}")
_WORDS: Final[dict[str, Word]] = {"accept": "accept", "reject": "reject"}
_MAX_POSTS_NAMED: Final = 5


def read_marks(posted: QueryDict) -> list[Marked]:
    """Return every change marked accept or reject, without malformed marks.

    A change that must be opened first has a field with another name (`x.`), which can only reject.
    """
    found: list[Marked] = []
    for name, value in posted.items():
        match = _NAME.fullmatch(name)
        word = _WORDS.get(str(value))
        if match is not None and word is not None and (match[1] == "d" or word == "reject"):
            found.append(Marked(int(match[2]), match[3], word))
    return found


def require_opened(request: HttpRequest, marks: Sequence[Marked]) -> None:
    """Raise `Conflict` (`must_be_opened`) if an accepted change is not safe, or was not shown completely."""
    # Without any right the service refuses every decision: report that instead.
    if not Rights.of(request).any:
        return
    accepted = {mark.id for mark in marks if mark.word != "reject"}
    # Only changes that still wait: the service reports the others.
    there = set(QueuedChange.objects.filter(pk__in=accepted).values_list("pk", flat=True))
    count = len(there - filter_safe_rows(there, actor_of(request)))
    if count:
        text = ngettext(
            "Open %(count)s change before you accept it. Nothing was decided.",
            "Open %(count)s changes before you accept them. Nothing was decided.",
            count,
        )
        raise Conflict(text % {"count": count}, code="must_be_opened")


def pack_rows(rows: Iterable[tuple[int, str]]) -> str:
    """Pack rows and their seen content into one form value."""
    return ",".join(f"{pk}.{seen}" for pk, seen in rows)


def read_packed(value: str, word: Word) -> list[Marked]:
    """Unpack the value of `pack_rows`, all with one decision. Malformed parts are skipped."""
    # One more than allowed, so that the service reports the limit.
    found = (_PACKED.fullmatch(part) for part in value.split(",")[: MAX_BATCH_CHANGES + 1])
    return [Marked(int(match[1]), match[2], word) for match in found if match is not None]


def decide(request: HttpRequest, marks: Sequence[Marked], back: str) -> HttpResponse:
    """Decide on a few changes at once and redirect to `back`; on many in a batch, and redirect to its page.

    Raises the errors of `decide_queued` and `begin_batch`.
    """
    note = request.POST.get("note", "")
    if len(marks) > MAX_DECISIONS:
        batch = begin_batch(marks=marks, actor=actor_of(request), note=note)
        return HttpResponseRedirect(reverse("admin:inbox-batch", args=[batch.pk]))
    add_messages(request, decide_queued(marks=marks, actor=actor_of(request), note=note))
    return HttpResponseRedirect(back)


def add_messages(request: HttpRequest, done: InboxOutcome) -> None:
    """Add messages about the decisions, and the changes left out by name."""
    texts = _describe(done)
    if texts:
        # One undo button for each of the first posts with rejections.
        rejected = [decision for decision in done.decisions if decision.rejections]
        words = _("Undo: %(title)s") if len(rejected) > 1 else _("Undo")
        messages.success(
            request,
            format_html(
                "{}{}",
                " ".join(texts),
                format_html_join(
                    "",
                    " {}",
                    (
                        (
                            take_back_button(
                                one.post, one.rejections, words % {"title": one.post.title}
                            ),
                        )
                        for one in rejected[:_MAX_POSTS_NAMED]
                    ),
                ),
            ),
        )
    if done.gone:
        text = ngettext(
            (
                "%(count)d change is no longer waiting: it was decided on or "
                "withdrawn in the meantime."
            ),
            (
                "%(count)d changes are no longer waiting: they were decided on or "
                "withdrawn in the meantime."
            ),
            done.gone,
        )
        messages.warning(request, text % {"count": done.gone})
    for decision in done.left[:_MAX_POSTS_NAMED]:
        names = {"title": decision.post.title, "why": decision.why, "count": len(decision.left)}
        text = _("“%(title)s” was not changed: %(why)s")
        if not decision.why:
            text = ngettext(
                "“%(title)s”: %(count)d change was skipped, because it has "
                "changed since you saw it or a person saved another change.",
                "“%(title)s”: %(count)d changes were skipped, because they have "
                "changed since you saw them or a person saved another change.",
                len(decision.left),
            )
        messages.warning(request, text % names)
    more = len(done.left) - _MAX_POSTS_NAMED
    if more > 0:
        text = ngettext(
            "The same applies to %(count)d more post.",
            "The same applies to %(count)d more posts.",
            more,
        )
        messages.warning(request, text % {"count": more})


def _describe(done: InboxOutcome) -> list[str]:
    submitted, live = done.submitted, done.live
    approved = done.approved - live
    texts = [
        (
            submitted,
            ngettext(
                "Submitted %(count)d change to Review.",
                "Submitted %(count)d changes to Review.",
                submitted,
            ),
        ),
        (
            live,
            ngettext(
                "Approved %(count)d change. It is live.",
                "Approved %(count)d changes. They are live.",
                live,
            ),
        ),
        (
            approved,
            ngettext(
                "Approved %(count)d change of a post that is not published.",
                "Approved %(count)d changes of posts that are not published.",
                approved,
            ),
        ),
        (
            done.rejected,
            ngettext("Rejected %(count)d change.", "Rejected %(count)d changes.", done.rejected),
        ),
    ]
    return [text % {"count": count} for count, text in texts if count]
