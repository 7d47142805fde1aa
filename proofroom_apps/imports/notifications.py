"""Notifications about scheduled exports that failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.archive.export import PERMISSION
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom.notifications.services import users_with_permission
from proofroom_apps.imports.event_kinds import EXPORT_FAILED
from proofroom_apps.imports.models import ExportSchedule


def _find_failed(event: Event) -> list[Notice]:
    id_ = str(event.payload["id"])
    return [Notice(users_with_permission(PERMISSION, but=None), id_, id_)]


def _describe_failed(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    found = ExportSchedule.objects.filter(pk__in=[row.group for row in rows])
    names = {str(schedule.pk): schedule.name for schedule in found}
    address = reverse("admin:proofroom_imports_exportrun_changelist")
    return {
        row.pk: NotificationText(
            _("The scheduled export “%(name)s” failed") % {"name": names[row.group]}
            if row.group in names
            else _("A scheduled export failed"),
            address,
            "up",
        )
        for row in rows
    }


KINDS: Final = (
    NotificationKind(
        EXPORT_FAILED,
        gettext_lazy("Scheduled exports that failed"),
        PERMISSION,
        (EXPORT_FAILED,),
        _find_failed,
        _describe_failed,
        can_be_mailed=True,
        category=Category.FAILED_RUN,
    ),
)
