"""An address that failed for a day is switched off, and people are told."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from core import events
from core.actor import Actor, Visitor
from webhooks.models import Webhook
from webhooks.outcomes import Outcome
from webhooks.services.webhooks import host_of

PATIENCE: Final = timedelta(hours=24)


def judge(webhook: Webhook, told: Iterable[tuple[datetime, Outcome]], now: datetime) -> None:
    """Take in what became of calls, with the times they began. The webhook is locked by the caller."""
    since = webhook.failing_since
    error = ""
    for at, outcome in sorted(told, key=lambda pair: pair[0]):
        since = None if outcome.is_success else since or at
        error = outcome.error
    if since != webhook.failing_since:
        webhook.failing_since = since
        webhook.save(update_fields=["failing_since"])
    if webhook.is_active and since is not None and now - since >= PATIENCE:
        _switch_off(webhook, error, now)


def _switch_off(webhook: Webhook, error: str, now: datetime) -> None:
    webhook.is_active = False
    webhook.disabled_at = webhook.updated_at = now
    webhook.disabled_reason = f"No call succeeded for a day. The last one: {error}"[:300]
    webhook.version += 1
    webhook.save(
        update_fields=["is_active", "disabled_at", "disabled_reason", "version", "updated_at"]
    )
    events.record(
        "webhook.disabled",
        actor=Actor(user=Visitor(username="system", role="system"), via="system"),
        payload={
            "id": str(webhook.pk),
            "name": webhook.name,
            "host": host_of(webhook.url),
            "reason": webhook.disabled_reason,
        },
    )
