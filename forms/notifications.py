"""Notifications about submissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext

from forms.queries import titles_of_forms
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom.notifications.services import users_with_permission


def _find_submitted(event: Event) -> list[Notice]:
    people = users_with_permission("forms.submissions", but=event.actor_id)
    slug, id_ = str(event.payload["formSlug"]), str(event.payload["submissionId"])
    return [Notice(people, slug, id_)]


def _describe_submitted(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    """Return texts that name the form but not the values, because they are sent by email."""
    titles = titles_of_forms({row.group for row in rows})
    address = reverse("admin:forms_formsubmission_changelist")
    return {
        row.pk: NotificationText(
            ngettext(
                "%(count)s new submission of “%(form)s”",
                "%(count)s new submissions of “%(form)s”",
                row.count,
            )
            % {"count": row.count, "form": titles.get(row.group, row.group)},
            f"{address}?{urlencode({'form_slug': row.group})}",
            "form",
        )
        for row in rows
    }


KINDS: Final = (
    NotificationKind(
        "form.submitted",
        gettext_lazy("New form submissions"),
        "forms.submissions",
        ("form.submitted",),
        _find_submitted,
        _describe_submitted,
        can_be_mailed=True,
        category=Category.SUBMISSION,
    ),
)
