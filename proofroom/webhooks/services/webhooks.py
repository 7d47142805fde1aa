"""Services that create, update and delete webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound
from proofroom.core.http_client.address_guard import target_of
from proofroom.core.json import JsonObject
from proofroom.core.redaction import SECRET_MASK
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.webhooks import retention, rules
from proofroom.webhooks.delivery_queue import wake_sender
from proofroom.webhooks.models import Webhook
from proofroom.webhooks.models.webhook import COLUMNS, NewWebhook, WebhookChanges

ROTATION: Final = timedelta(hours=24)
"""Time for which the previous secret also signs."""


@transaction.atomic
def create_webhook(*, actor: Actor, webhook: NewWebhook) -> Webhook:
    """Create a webhook. Raises `RuleViolation` by field."""
    require_webhook_manager(actor)
    row = Webhook(made_by_id=actor.user.pk)
    for name in NewWebhook.model_fields:
        value = getattr(webhook, name)
        if name == "headers":
            value = rules.clean_headers(value, {})
        elif name in rules.CLEANED_BY:
            value = rules.CLEANED_BY[name](value)
        setattr(row, COLUMNS.get(name, name), value)
    row.save(force_insert=True)
    record_webhook_event("webhook.created", row, actor)
    return row


@transaction.atomic
def update_webhook(*, webhook_id: UUID | str, actor: Actor, changes: WebhookChanges) -> Webhook:
    """Change the given values. None leaves a value unchanged; an empty secret removes the webhook's own.

    The previous secret also signs for a day, or until `end_rotation`. Raises `NotFound`, `Conflict`
    (`stale_version`), or `RuleViolation` by field.
    """
    require_webhook_manager(actor)
    row = find_webhook(webhook_id, locked=True)
    if changes.version is not None and changes.version != row.version:
        raise Conflict(
            _("This webhook has changed since you opened it."),
            code="stale_version",
            current=row.version,
        )
    before = settings_of(row)
    given = changes.model_dump(
        include={*NewWebhook.model_fields} - {"secret"}, exclude_unset=True, exclude_none=True
    )
    if given.keys() & {"url", "headers"}:
        set_target(row, given.pop("url", None), given.pop("headers", None))
    if given.get("active") and not row.is_active:
        # It gets a full day before it can be disabled again.
        row.failing_since, row.disabled_at, row.disabled_reason = None, None, ""
    for name, value in given.items():
        clean = rules.CLEANED_BY.get(name)
        setattr(row, COLUMNS.get(name, name), clean(value) if clean else value)
    if changes.secret is not None:
        secret = rules.clean_secret(changes.secret)
        if secret != row.secret:
            row.previous_secret = row.secret
            row.previous_secret_until = timezone.now() + ROTATION if row.secret else None
            row.secret = secret
    if changes.end_rotation:
        row.previous_secret, row.previous_secret_until = "", None
    after = settings_of(row)
    changed = [name for name in after if after[name] != before[name]]
    if not changed:
        return row
    row.version += 1
    row.updated_at = timezone.now()
    row.save()
    record_webhook_event("webhook.changed", row, actor, changed=changed)
    if "active" in changed and row.is_active:
        wake_sender()  # its deliveries were held while it was off
    return row


def set_target(row: Webhook, url: str | None, headers: Mapping[str, str] | None) -> None:
    """Set URL and headers. Values of hidden headers are lost if the host changes."""
    # An editor who cannot read the values could otherwise send them to a host of their own.
    target = row.url if url is None else rules.clean_url(url)
    there, here = target_of(target), target_of(row.url)
    kept = row.headers if (there.scheme, there.authority) == (here.scheme, here.authority) else {}
    given = dict.fromkeys(row.headers, SECRET_MASK) if headers is None else headers
    row.headers = rules.clean_headers(given, kept)
    row.url = target


def settings_of(row: Webhook) -> JsonObject:
    """Return copies of the editable values, by wire name."""
    found: JsonObject = {}
    for name, info in NewWebhook.model_fields.items():
        found[info.alias or name] = deepcopy(getattr(row, COLUMNS.get(name, name)))
        if name == "secret":
            found["secretRotatesUntil"] = row.previous_secret
    return found


@transaction.atomic
def delete_webhook(*, webhook_id: UUID | str, actor: Actor) -> UUID:
    """Delete a webhook with its deliveries. Return its id."""
    require_webhook_manager(actor)
    row = find_webhook(webhook_id, locked=True)
    id_ = row.pk
    record_webhook_event("webhook.deleted", row, actor)
    # The first batch at once, so that usual webhooks need no task.
    if retention.purge_batch(id_) == retention.BATCH_SIZE:
        send_after_commit(
            lambda: queue_task("webhooks.tasks.purge_deliveries", str(id_)),
            f"the end of webhook {id_}",
        )
    row.delete()
    return id_


def forget_old_secrets() -> int:
    """Delete previous secrets that no longer sign. Return how many."""
    expired = Webhook.objects.filter(previous_secret_until__lte=timezone.now())
    return expired.update(previous_secret="", previous_secret_until=None)


def find_webhook(webhook_id: UUID | str, *, locked: bool = False) -> Webhook:
    """Return the webhook with this id. Raises `NotFound`."""
    rows = Webhook.objects.select_for_update() if locked else Webhook.objects.all()
    row = find_by_id(rows, webhook_id)
    if row is None:
        raise NotFound(
            _("No webhook has the ID %(webhook_id)s.") % {"webhook_id": str(webhook_id)[:80]}
        )
    return row


def require_webhook_manager(actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor is a person who may manage webhooks."""
    actor.require_person("change webhooks")
    actor.require("webhooks.manage")


def record_webhook_event(name: str, row: Webhook, actor: Actor, **more: list[str]) -> None:
    """Record an event without secrets, header values, and the path of the URL."""
    payload: JsonObject = {"id": str(row.pk), "name": row.name, "host": host_of(row.url), **more}
    outbox.record(name, actor=actor, payload=payload)


def host_of(url: str) -> str:
    """Return the host of a URL. Path and query can be secret."""
    parts = urlsplit(url)
    return parts.hostname or ""
