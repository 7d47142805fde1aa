"""Secrets and header values: written, stored, rotated, and never read or sent elsewhere."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
from proofroom.core.redaction import SECRET_MASK
from proofroom.webhooks.models import Webhook
from proofroom.webhooks.models.webhook import WebhookChanges
from proofroom.webhooks.services.webhooks import update_webhook
from proofroom.webhooks.signatures import Keys, keys_of
from proofroom.webhooks.tasks import prune_deliveries
from tests import make

pytestmark = pytest.mark.django_db
URL = "https://search.example/hook"
SECRET = "first-secret-of-this-webhook"
SECOND = "second-secret-of-this-webhook"


def change(row: Webhook, **values: Any) -> Webhook:
    changes = WebhookChanges.model_construct(**values)  # the service judges by itself
    return update_webhook(webhook_id=row.pk, actor=make.actor("admin"), changes=changes)


def test_a_change_says_what_changed_and_nothing_secret() -> None:
    row = make.webhook(headers={"X-Key": "canary-one"}, secret=SECRET)

    change(
        row,
        name="Other",
        url="https://search.example/?key=canary-two",
        headers={"X-Key": "canary-three"},
        secret=SECOND,
    )

    assert Webhook.objects.get().version == 2
    assert Event.objects.get(name="webhook.changed").payload == {
        "id": str(row.pk),
        "name": "Other",
        "host": "search.example",
        "changed": ["name", "url", "headers", "secret", "secretRotatesUntil"],
    }
    kept = str(list(Event.objects.values()))
    assert not [word for word in ("canary", SECRET, SECOND) if word in kept]


def test_what_stays_the_same_is_no_change() -> None:
    row = make.webhook(headers={"X-Key": "value"}, secret=SECRET)

    change(
        row, name=row.name, url=row.url, headers={"x-key": SECRET_MASK}, secret=SECRET, active=True
    )

    assert Webhook.objects.get().headers == {"x-key": "value"}
    change(row, headers={"x-key": SECRET_MASK})
    assert Webhook.objects.get().version == 2


def test_a_mask_keeps_the_value_and_no_mask_drops_it() -> None:
    row = make.webhook(headers={"X-Key": "value", "X-Other": "gone"})

    row = change(row, headers={"x-key": SECRET_MASK, "X-New": "new"})

    assert Webhook.objects.get().headers == row.headers == {"x-key": "value", "X-New": "new"}


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/", "http://search.example/hook", "https://search.example:8443/hook"],
)
def test_values_of_headers_do_not_follow_to_another_host(url: str) -> None:
    """Threat 41: write-only values must not be sent to a host where they can be read."""
    row = make.webhook(headers={"Authorization": "Bearer abc"})

    for values in ({"url": url}, {"url": url, "headers": {"authorization": SECRET_MASK}}):
        with pytest.raises(RuleViolation) as refused:
            change(row, **values)
        assert (refused.value.code, list(refused.value.details)) == (
            "header_value_needed",
            ["headers"],
        )
    assert Webhook.objects.get().url == URL

    change(row, url="https://search.example:443/other")
    change(row, url=url, headers={"Authorization": "Bearer new"})
    assert Webhook.objects.get().headers == {"Authorization": "Bearer new"}


def test_the_secret_before_signs_along_for_a_day() -> None:
    row = make.webhook(secret=SECRET)
    before = timezone.now()

    row = change(row, secret=SECOND)

    assert row.previous_secret_until is not None
    assert timedelta(hours=24) <= row.previous_secret_until - before < timedelta(hours=25)
    assert keys_of(Webhook.objects.get()) == Keys(SECOND, SECRET)


def test_a_rotation_can_be_ended() -> None:
    row = change(make.webhook(secret=SECRET), secret=SECOND)

    change(row, end_rotation=True)

    assert keys_of(Webhook.objects.get()) == Keys(SECOND, "")
    assert SECRET not in str(list(Webhook.objects.values()))


def test_a_secret_that_signs_no_more_is_deleted() -> None:
    over, going_on = (change(make.webhook(name, secret=SECRET), secret=SECOND) for name in "ab")
    Webhook.objects.filter(pk=over.pk).update(
        previous_secret_until=timezone.now() - timedelta(seconds=1)
    )
    assert keys_of(Webhook.objects.get(pk=over.pk)) == Keys(SECOND, "")

    prune_deliveries()

    assert Webhook.objects.get(pk=over.pk).previous_secret == ""
    assert Webhook.objects.get(pk=over.pk).previous_secret_until is None
    assert keys_of(Webhook.objects.get(pk=going_on.pk)) == Keys(SECOND, SECRET)


def test_without_its_own_secret_the_shared_one_signs(settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"agent_secret": "shared-secret-of-all"})
    row = make.webhook(secret=SECRET)

    change(row, secret="")

    assert keys_of(Webhook.objects.get()) == Keys("shared-secret-of-all", SECRET)
