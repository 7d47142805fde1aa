"""Threats 41 and 56: secrets of webhooks are in no answer, page, log, event or description."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.models import Event
from proofroom.webhooks.models import Attempt, Delivery, Webhook
from proofroom.webhooks.models.webhook import WebhookChanges
from proofroom.webhooks.services.webhooks import update_webhook
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import areas
from tests.contract.test_admin_walk import ADDRESSES
from tests.receiver import Receiver, Reply, Trick
from tests.webhooks import sending

pytestmark = pytest.mark.django_db
SECRETS = ("canary-own-secret-1", "canary-own-secret-2", "canary-shared-secret")
VALUE = "canary-value-of-a-header"


@pytest.fixture
def told(receiver: Receiver, env: Any) -> Webhook:
    """Create a webhook during rotation whose receiver echoes its input."""
    env(agent_secret=SECRETS[2])
    receiver.say("/hook", Reply(500, trick=Trick.ECHO))
    row = sending.webhook(receiver, headers={"X-Api-Key": VALUE}, secret=SECRETS[0])
    update_webhook(
        webhook_id=row.pk, actor=make.actor("admin"), changes=WebhookChanges(secret=SECRETS[1])
    )
    sending.happened("post.updated")
    assert sending.send() == 1
    return row


def addresses(row: Webhook) -> list[str]:
    """Return every list of the API, every admin page without an id, and this webhook's pages."""
    delivery = Delivery.objects.get()
    api = {
        endpoint.path
        for area in areas()
        for endpoint in area.endpoints
        if endpoint.method == "GET" and not endpoint.has_gaps
    }
    pages = {f"/admin/{address}" for address in ADDRESSES if "<" not in address}
    return [
        *sorted(api),
        *sorted(pages - {"/admin/logout/"}),
        f"/api/webhooks/{row.pk}",
        f"/api/webhook-deliveries/{delivery.pk}",
        f"/admin/proofroom_webhooks/webhook/{row.pk}/change/",
        f"/admin/proofroom_webhooks/webhook/{row.pk}/delete/",
        f"/admin/proofroom_webhooks/delivery/{delivery.pk}/change/",
        "/api/schema/",
    ]


def test_no_answer_page_or_log_holds_a_secret(
    told: Webhook, caplog: pytest.LogCaptureFixture
) -> None:
    assert VALUE in str(Webhook.objects.get().headers)
    client = ApiClient("admin")
    seen = []

    with caplog.at_level(logging.DEBUG):
        for address in addresses(told):
            answer = client.get(address)
            assert answer.status_code < 500, address
            seen.append(answer.status_code)
            text = b"".join(answer) if answer.streaming else answer.content
            assert b"canary-" not in text, address

    assert seen.count(200) > 60
    assert "canary-" not in caplog.text


def test_nothing_that_is_kept_beside_the_webhook_holds_a_secret(told: Webhook) -> None:
    attempt = Attempt.objects.get()
    assert attempt.response_body != ""

    for model in (Attempt, Delivery, Event):
        assert "canary-" not in str(list(model._default_manager.values()))


def test_no_tool_answers_a_secret(told: Webhook) -> None:
    principal = Principal(id="looker", user_id=make.user("admin").pk, diagnostics=True)

    results = [
        call_tool(principal, "simulate_webhook_event", {"event": "post.updated"}),
        call_tool(principal, "simulate_webhook_event", {"event": SECRETS[0][:5]}),
        call_tool(principal, "tail_activity_logs", {"limit": 100}),
    ]

    for result in results:
        assert "canary-" not in str(result)
