"""Notifications about releases: that one failed, or went live at its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom.notifications.services import users_with_permission
from proofroom_apps.releases.models import Release
from proofroom_apps.releases.queries import MANAGE


def _find_maker(event: Event) -> list[Notice]:
    """Return a notice for who scheduled or started the release; without the account, for all who manage releases."""
    people = users_with_permission(MANAGE, but=None)
    if event.actor_id in people:
        people = [event.actor_id]
    id_ = str(event.payload["id"])
    return [Notice(people, id_, id_)] if people else []


def _describe(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    events = Event.objects.in_bulk([row.event_id for row in rows])
    standing = set(
        Release.objects.filter(pk__in=[row.subjects[0] for row in rows]).values_list(
            "pk", flat=True
        )
    )
    texts = {}
    for row in rows:
        event = events.get(row.event_id)
        payload = event.payload if event is not None else {}
        sentence = (
            _("The release “%(name)s” could not be undone")
            if payload.get("what") == "undo"
            else _("The release “%(name)s” could not go live")
        )
        text = sentence % {"name": str(payload.get("name", ""))}
        url = ""
        if any(str(pk) == row.subjects[0] for pk in standing):
            url = reverse("admin:proofroom_releases_release_change", args=[row.subjects[0]])
        texts[row.pk] = NotificationText(text, url, "warning", str(payload.get("reason") or ""))
    return texts


KINDS: Final = (
    NotificationKind(
        "release.failed",
        gettext_lazy("A release could not go live"),
        MANAGE,
        ("release.failed",),
        _find_maker,
        _describe,
        can_be_mailed=True,
        category=Category.DUE,
    ),
)
