"""Notifications about feedback on pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext

from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom.notifications.services import users_with_permission


def _find_created(event: Event) -> list[Notice]:
    people = users_with_permission("feedback.moderate", but=event.actor_id)
    return [Notice(people, "new", str(event.payload["id"]))]


def _describe_created(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    return {
        row.pk: NotificationText(
            ngettext(
                "%(count)s new comment in Feedback", "%(count)s new comments in Feedback", row.count
            )
            % {"count": row.count},
            reverse("admin:proofroom_feedback_feedback_changelist"),
            "comment",
        )
        for row in rows
    }


KINDS: Final = (
    NotificationKind(
        "feedback.created",
        gettext_lazy("New feedback"),
        "feedback.moderate",
        ("feedback.created",),
        _find_created,
        _describe_created,
        can_be_mailed=True,
        category=Category.SUBMISSION,
    ),
)
