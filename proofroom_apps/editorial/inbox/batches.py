"""Bulk decisions in the admin: their list, progress, outcome and cancellation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from content.inbox.decision_batches import (
    batches_for,
    cancel_batch,
    count_batch_outcomes,
    find_batch,
)
from content.models import (
    BatchState,
    DecisionBatch,
    DecisionItem,
    DecisionOutcome,
    Layer,
    Post,
    Status,
)
from content.store.scopes import visible_to
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom_apps.editorial.inbox.queue_rows import place_of
from proofroom_apps.editorial.posts.post_pages import (
    page,
    post_url,
    review_url,
    title_of,
    with_proposed_titles,
)

_PAGE_SIZE: Final = 50
# After this time the page of a running batch says that it still waits for a worker.
_SLOW_AFTER: Final = timedelta(seconds=20)
_STATES: Final[dict[str, tuple[str, Promise]]] = {
    BatchState.RUNNING: ("running", gettext_lazy("In progress")),
    BatchState.DONE: ("succeeded", gettext_lazy("Finished")),
    BatchState.CANCELLED: ("cancelled", gettext_lazy("Cancelled")),
    BatchState.STOPPED: ("failed", gettext_lazy("Stopped")),
}
_LEFT: Final = (
    DecisionOutcome.MOVED,
    DecisionOutcome.HELD,
    DecisionOutcome.REFUSED,
    DecisionOutcome.GONE,
)
_LISTS: Final[dict[str, tuple[Promise, Sequence[str]]]] = {
    "left": (gettext_lazy("Skipped"), _LEFT),
    "accepted": (gettext_lazy("Accepted"), (DecisionOutcome.TAKEN,)),
    "rejected": (gettext_lazy("Rejected"), (DecisionOutcome.REJECTED,)),
    "waiting": (gettext_lazy("Not decided"), (DecisionOutcome.WAITING,)),
}
_OUTCOMES: Final[dict[str, Promise]] = {
    DecisionOutcome.WAITING: gettext_lazy("Not decided"),
    DecisionOutcome.REJECTED: gettext_lazy("Rejected"),
    DecisionOutcome.GONE: gettext_lazy(
        "No longer waiting: decided on or withdrawn in the meantime."
    ),
    DecisionOutcome.MOVED: gettext_lazy(
        "This has changed since you saw it. Check it again and decide."
    ),
    DecisionOutcome.HELD: gettext_lazy(
        "A person saved another change in Review. Compare both and decide."
    ),
}


@dataclass(frozen=True, slots=True)
class DecisionProgress:
    """The progress of a batch."""

    batch: DecisionBatch
    counts: Counter[str]
    url: str

    @property
    def total(self) -> int:
        return self.counts.total()

    @property
    def waiting(self) -> int:
        return self.counts[DecisionOutcome.WAITING]

    @property
    def done(self) -> int:
        return self.total - self.waiting

    @property
    def left(self) -> int:
        return sum(self.counts[outcome] for outcome in _LEFT) + self.batch.gone

    @property
    def badge(self) -> str:
        return _STATES[self.batch.state][0]

    @property
    def label(self) -> str:
        return str(_STATES[self.batch.state][1])


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """The outcome of one change."""

    title: str
    url: str
    place: str
    outcome: str
    is_problem: bool


def running_batches(request: HttpRequest) -> list[DecisionProgress]:
    """Return the user's running batches. One query, plus one if there are any."""
    running = batches_for(actor_of(request)).filter(by_id=request.user.pk, state=BatchState.RUNNING)
    return _progress(list(running))


@service_errors_as_http
def inbox_batches(request: HttpRequest) -> HttpResponse:
    """List the batches, newest first: the user's own, or all for administrators."""
    require(request, "posts.view")
    found = Paginator(batches_for(actor_of(request)), _PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"batches": _progress(list(found)), "page_obj": found}
    title = _("Bulk reviews")
    return page(request, "admin/inbox_batches.html", context, title=title)


@service_errors_as_http
def inbox_batch(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Show the progress of a batch; `?show=` selects the outcome whose changes are listed."""
    require(request, "posts.view")
    batch = find_batch(batch_id=batch_id, actor=actor_of(request))
    by_layer, asked = _count_items(batch)
    counts: Counter[str] = Counter()
    for (_layer, outcome), count in by_layer.items():
        counts[outcome] += count
    progress = DecisionProgress(batch, counts, batch_url(batch))
    # Show the requested list, else the first one that is not empty.
    tabs = [
        (name, label, sum(counts[outcome] for outcome in outcomes))
        for name, (label, outcomes) in _LISTS.items()
    ]
    shown = request.GET.get("show", "")
    if shown not in _LISTS:
        shown = next((name for name, _label, count in tabs if count), "left")
    items = batch.items.filter(outcome__in=_LISTS[shown][1]).order_by("pk")
    found: Page[DecisionItem] = Paginator(items, _PAGE_SIZE).get_page(request.GET.get("page"))
    listed = list(found)
    wanted = {item.post_id for item in listed if item.post_id is not None}
    posts = with_proposed_titles(
        visible_to(Post.objects.all(), actor_of(request)).filter(pk__in=wanted)
    ).in_bulk()
    context = {
        "batch": batch,
        "progress": progress,
        "asked": asked,
        "submitted": by_layer[Layer.AI_REVIEW, DecisionOutcome.TAKEN],
        "live": by_layer[Layer.REVIEW, DecisionOutcome.TAKEN],
        "rejected": counts[DecisionOutcome.REJECTED],
        "is_slow": not progress.done and timezone.now() - batch.created_at > _SLOW_AFTER,
        "shown": shown,
        "tabs": tabs,
        "page_obj": found,
        "lines": [_decision_row(item, posts.get(item.post_id)) for item in listed],
    }
    return page(request, "admin/inbox_batch.html", context, title=_("Bulk reviews"))


@require_POST
@service_errors_as_http
def inbox_batch_cancel(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Cancel the remaining decisions of a batch."""
    require(request, "posts.view")
    actor = actor_of(request)
    batch = find_batch(batch_id=batch_id, actor=actor)
    with service_errors_as_messages(request):
        cancel_batch(batch_id=batch_id, actor=actor)
        text = _("Cancelled. Decisions already made are kept; all other changes are still waiting.")
        messages.success(request, text)
    return HttpResponseRedirect(batch_url(batch))


def batch_url(batch: DecisionBatch) -> str:
    return reverse("admin:inbox-batch", args=[batch.pk])


def _progress(batches: Sequence[DecisionBatch]) -> list[DecisionProgress]:
    counts = count_batch_outcomes([batch.pk for batch in batches]) if batches else {}
    return [DecisionProgress(batch, counts[batch.pk], batch_url(batch)) for batch in batches]


def _count_items(batch: DecisionBatch) -> tuple[Counter[tuple[str, str]], str]:
    """Return the number of changes by layer and outcome, and the decision in words. One query."""
    found: Counter[tuple[str, str]] = Counter()
    asked: Counter[str] = Counter()
    rows = batch.items.order_by().values_list("layer", "outcome", "word")
    for layer, outcome, word, count in rows.annotate(count=Count("pk")):
        # A change published directly from AI Review is live, as one approved in Review, so it counts there.
        found[Layer.REVIEW if word == "publish" else layer, outcome] += count
        asked[layer if word == "accept" else word] += count
    submit, approve = asked[Layer.AI_REVIEW], asked[Layer.REVIEW]
    publish, reject = asked["publish"], asked["reject"]
    words = [
        ngettext("%(n)d change to submit to Review", "%(n)d changes to submit to Review", submit),
        ngettext("%(n)d change to approve", "%(n)d changes to approve", approve),
        ngettext(
            "%(n)d change to approve and publish", "%(n)d changes to approve and publish", publish
        ),
        ngettext("%(n)d change to reject", "%(n)d changes to reject", reject),
    ]
    numbers = (submit, approve, publish, reject)
    return found, ", ".join(text % {"n": n} for text, n in zip(words, numbers, strict=True) if n)


def _decision_row(item: DecisionItem, post: Post | None) -> DecisionRow:
    is_live = item.layer == Layer.REVIEW or item.word == "publish"
    if item.outcome == DecisionOutcome.TAKEN:
        outcome = _("Accepted and live") if is_live else _("Accepted, now in Review")
        if is_live and post is not None and post.status != Status.PUBLISHED:
            outcome = _("Accepted, the post is not published")
    elif item.outcome == DecisionOutcome.REFUSED:
        outcome = item.why
    else:
        outcome = str(_OUTCOMES[item.outcome])
    is_problem = item.outcome in _LEFT
    if post is None:
        return DecisionRow(_("(permanently deleted)"), "", "", outcome, is_problem)
    # So that `place_of` takes no query for each item.
    item.post = post
    # Link to the change, or to its decision. A post in the trash has no page.
    if post.deleted_at is not None:
        url = ""
    elif item.outcome == DecisionOutcome.REJECTED:
        url = post_url("revisions", post)  # the page that can undo it
    elif item.outcome != DecisionOutcome.TAKEN:
        url = review_url(post, item.layer)
    else:
        url = post_url("change", post) if is_live else review_url(post, Layer.REVIEW)
    return DecisionRow(title_of(post), url, place_of(item), outcome, is_problem)
