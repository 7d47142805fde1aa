"""Changes in Review that go live at a time: the panel of the review screen, and its buttons."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.differences import base_path
from content.document.labels import label_of, module_names
from content.layers import LayerView
from content.layers.schedule import (
    ApprovalPlan,
    approvals_of,
    cancel_approval,
    plans_of,
    schedule_approval,
)
from content.models import Layer, Post
from proofroom.core.admin.permissions import actor_of, may, service_errors_as_messages
from proofroom.core.errors import invalid
from proofroom.core.i18n.time_zones import (
    SuggestedTime,
    current_zone_name,
    exact_time,
    from_local_input,
    suggested_times,
    to_local_input,
)
from proofroom_apps.editorial.posts.post_pages import review_url


@dataclass(frozen=True, slots=True)
class ScheduledRow:
    """A scheduled approval in the list, with its changes in words."""

    plan: ApprovalPlan
    labels: Sequence[str]

    @property
    def is_failed(self) -> bool:
        return self.plan.row.failed_at is not None


@dataclass(frozen=True, slots=True)
class SchedulePanel:
    """The panel of the review screen: a time for the accepted changes, and what waits for one."""

    rows: Sequence[ScheduledRow]
    label: str
    at: str
    earliest: str
    suggested: Sequence[SuggestedTime]

    @property
    def problems(self) -> list[ScheduledRow]:
        return [row for row in self.rows if row.plan.conflict]


def schedule_panel(request: HttpRequest, post: Post, view: LayerView) -> SchedulePanel | None:
    """Return the panel; None for AI Review and for users who may not approve. One query.

    One more for types with editorial steps, for any number of schedules.
    """
    if view.layer != Layer.REVIEW or not may(request, "posts.review.approve", post):
        return None
    names = module_names(view.document, view.below)
    rows = [
        ScheduledRow(
            plan,
            [
                label_of(path, view.document, names)
                for path in dict.fromkeys(base_path(path) for path in plan.row.paths)
            ],
        )
        for plan in plans_of(post, approvals_of(post), view)
    ]
    return SchedulePanel(
        rows,
        _("Go live at (%(zone)s)") % {"zone": current_zone_name()},
        request.POST.get("at", ""),
        to_local_input(timezone.now()),
        suggested_times(),
    )


def schedule_accepted(
    request: HttpRequest, post: Post, accept: Collection[str]
) -> HttpResponseRedirect:
    """Schedule the accepted changes for the typed time. Raises `CmsError`."""
    try:
        at = from_local_input(request.POST.get("at", ""))
    except ValidationError as error:
        raise invalid("at", " ".join(error.messages)) from None
    except (ValueError, OverflowError):
        raise invalid("at", _("Choose a date and a time.")) from None
    row = schedule_approval(
        post_id=post.pk,
        actor=actor_of(request),
        digest=request.POST.get("digest", ""),
        paths=accept,
        at=at,
    )
    text = _("Approved. The changes go live at this time: %(at)s.")
    messages.success(request, text % {"at": exact_time(row.at)})
    return HttpResponseRedirect(review_url(post, Layer.REVIEW))


def remove_schedule(request: HttpRequest, post: Post, schedule_id: str) -> HttpResponse:
    """Remove a scheduled approval, and return to the review screen."""
    with service_errors_as_messages(request):
        cancel_approval(post_id=post.pk, schedule_id=schedule_id, actor=actor_of(request))
        messages.success(request, _("Schedule removed. The changes stay in Review."))
    return HttpResponseRedirect(review_url(post, Layer.REVIEW))
