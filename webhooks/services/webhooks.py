"""Webhooks: made, changed and deleted by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core import events
from core.actor import Actor
from core.errors import Conflict, NotFound
from core.json import JsonObject
from core.outgoing.targets import target_of
from core.waking import after_commit
from webhooks import pruning, rules
from webhooks.delivering import wake_sender
from webhooks.models import Webhook

ROTATION: Final = timedelta(hours=24)
"""How long the secret before the last one signs along."""


@transaction.atomic
def create_webhook(
    *,
    actor: Actor,
    name: str,
    url: str,
    events: Sequence[str],
    types: Sequence[str] = (),
    locales: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    secret: str = "",
    active: bool = True,
    test: bool = False,
) -> Webhook:
    """Have an address told of events. Raises `RuleViolation` by field."""
    allow(actor)
    row = Webhook(
        name=rules.name_of(name),
        url=rules.url_of(url),
        events=rules.events_of(events),
        types=rules.types_of(types),
        locales=rules.locales_of(locales),
        headers=rules.headers_of(headers or {}, {}),
        secret=rules.secret_of(secret),
        is_active=active,
        is_test=test,
        made_by_id=actor.user.pk,
    )
    row.save(force_insert=True)
    _record("webhook.created", row, actor)
    return row


@transaction.atomic
def update_webhook(
    *,
    webhook_id: UUID | str,
    actor: Actor,
    expected_version: int | None = None,
    name: str | None = None,
    url: str | None = None,
    events: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    locales: Sequence[str] | None = None,
    headers: Mapping[str, str] | None = None,
    secret: str | None = None,
    end_rotation: bool = False,
    active: bool | None = None,
    test: bool | None = None,
) -> Webhook:
    """Change what is given; None leaves a value, an empty secret takes the webhook's own away.

    The secret before signs along for a day, or until `end_rotation`. Raises `NotFound`, `Conflict`
    (`stale_version`), or `RuleViolation` by field.
    """
    allow(actor)
    row = find_webhook(webhook_id, locked=True)
    _require_version(row, expected_version)
    before = _state(row)
    if headers is not None or url is not None:
        _aim(row, url, headers)
    row.name = row.name if name is None else rules.name_of(name)
    row.events = row.events if events is None else rules.events_of(events)
    row.types = row.types if types is None else rules.types_of(types)
    row.locales = row.locales if locales is None else rules.locales_of(locales)
    row.is_test = row.is_test if test is None else test
    if secret is not None:
        _rotate(row, rules.secret_of(secret))
    if end_rotation:
        row.previous_secret, row.previous_secret_until = "", None
    if active is not None:
        _switch(row, active)
    return _keep(row, before, actor)


@transaction.atomic
def delete_webhook(*, webhook_id: UUID | str, actor: Actor) -> UUID:
    """Tell the address nothing any more; its deliveries go too. Answers the id that is gone."""
    allow(actor)
    row = find_webhook(webhook_id, locked=True)
    id_ = row.pk
    _record("webhook.deleted", row, actor)
    if pruning.purge_batch(id_) == pruning.BATCH:
        after_commit(lambda: _purge(id_), f"the end of webhook {id_}")
    row.delete()
    return id_


def _purge(webhook_id: UUID) -> None:
    from webhooks.tasks import purge_deliveries

    purge_deliveries.delay(str(webhook_id))


def forget_old_secrets() -> int:
    """Delete secrets whose time of signing along is over. Answers how many."""
    over = Webhook.objects.filter(previous_secret_until__lte=timezone.now())
    return over.update(previous_secret="", previous_secret_until=None)


def find_webhook(webhook_id: UUID | str, *, locked: bool = False) -> Webhook:
    """The webhook of that id. Raises `NotFound`."""
    rows = Webhook.objects.select_for_update() if locked else Webhook.objects.all()
    try:
        row = rows.filter(pk=UUID(str(webhook_id))).first()
    except ValueError:
        row = None
    if row is None:
        raise NotFound(
            _("No webhook has the id %(webhook_id)s.") % {"webhook_id": str(webhook_id)[:80]}
        )
    return row


def allow(actor: Actor) -> None:
    """Raise `NotAllowed` unless a person who manages webhooks acts."""
    actor.require_person("change webhooks")
    actor.require("webhooks.manage")


def _require_version(row: Webhook, expected: int | None) -> None:
    if expected is not None and expected != row.version:
        raise Conflict(
            _("This webhook changed since you read it."), code="stale_version", current=row.version
        )


def _aim(row: Webhook, url: str | None, headers: Mapping[str, str] | None) -> None:
    """Values of headers, which nobody can read here, are not kept for another host, which could read them."""
    target = row.url if url is None else rules.url_of(url)
    there, here = target_of(target), target_of(row.url)
    kept = row.headers if (there.scheme, there.authority) == (here.scheme, here.authority) else {}
    given = dict.fromkeys(row.headers, rules.MASK) if headers is None else headers
    row.headers = rules.headers_of(given, kept)
    row.url = target


def _rotate(row: Webhook, secret: str) -> None:
    if secret == row.secret:
        return
    row.previous_secret = row.secret
    row.previous_secret_until = timezone.now() + ROTATION if row.secret else None
    row.secret = secret


def _switch(row: Webhook, active: bool) -> None:
    if active and not row.is_active:
        # It is given another day before it is switched off again.
        row.failing_since, row.disabled_at, row.disabled_reason = None, None, ""
    row.is_active = active


def _keep(row: Webhook, before: JsonObject, actor: Actor) -> Webhook:
    after = _state(row)
    changed = [name for name in after if after[name] != before[name]]
    if not changed:
        return row
    row.version += 1
    row.updated_at = timezone.now()
    row.save()
    _record("webhook.changed", row, actor, changed=changed)
    if "active" in changed and row.is_active:
        wake_sender()  # what was held while it was off
    return row


def _state(row: Webhook) -> JsonObject:
    """What people set, by its name on the wire."""
    return {
        "name": row.name,
        "url": row.url,
        "events": list(row.events),
        "types": list(row.types),
        "locales": list(row.locales),
        "headers": dict(row.headers),
        "secret": row.secret,
        "secretRotatesUntil": row.previous_secret,
        "active": row.is_active,
        "test": row.is_test,
    }


def _record(name: str, row: Webhook, actor: Actor, **more: list[str]) -> None:
    """Neither secrets nor values of headers, and of the address only the host."""
    payload: JsonObject = {"id": str(row.pk), "name": row.name, "host": host_of(row.url), **more}
    events.record(name, actor=actor, payload=payload)


def host_of(url: str) -> str:
    """What of an address may be told: its path and query can be a secret."""
    parts = urlsplit(url)
    return parts.hostname or ""
