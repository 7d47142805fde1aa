"""Notifications about disabled webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import Notice, NotificationKind, NotificationText
from proofroom.notifications.services import users_with_permission
from proofroom.webhooks.models import Webhook


def _find_disabled(event: Event) -> list[Notice]:
    id_ = str(event.payload["id"])
    return [Notice(users_with_permission("webhooks.manage", but=event.actor_id), id_, id_)]


def _describe_disabled(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    found = Webhook.objects.filter(pk__in=[row.subjects[0] for row in rows])
    webhooks = {str(webhook.pk): webhook for webhook in found}
    texts = {}
    for row in rows:
        webhook = webhooks.get(row.subjects[0])
        if webhook is None:
            texts[row.pk] = NotificationText(_("A webhook was deleted"), "", "webhook")
            continue
        text = _("The webhook “%(name)s” was turned off because its calls failed")
        url = reverse("admin:proofroom_webhooks_webhook_change", args=[webhook.pk])
        texts[row.pk] = NotificationText(
            text % {"name": webhook.name}, url, "webhook", webhook.disabled_reason
        )
    return texts


KINDS: Final = (
    NotificationKind(
        "webhook.disabled",
        gettext_lazy("Webhooks that were turned off"),
        "webhooks.manage",
        ("webhook.disabled",),
        _find_disabled,
        _describe_disabled,
        can_be_mailed=True,
    ),
)
