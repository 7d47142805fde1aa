"""Simulated events: shown, and sent only to test webhooks."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.webhooks.models import Delivery
from proofroom.webhooks.services.test_calls import PAYLOAD_MAX_BYTES, simulate_event
from tests import make
from tests.conftest import RunOnCommit
from tests.receiver import Receiver

pytestmark = pytest.mark.django_db
SECRET = "canary-secret-of-the-webhook"
VALUE = "canary-value-of-a-header"


def call(diagnostics: bool = True, role: str = "admin", **arguments: Any) -> Any:
    principal = Principal(id="looker", user_id=make.user(role).pk, diagnostics=diagnostics)
    return call_tool(principal, "simulate_webhook_event", arguments)


def test_it_says_who_would_get_what_and_sends_nothing() -> None:
    """Threat 56: neither secrets nor values of headers."""
    make.webhook(secret=SECRET, headers={"X-Team": VALUE}, test=True)
    make.webhook("Off", active=False)
    make.webhook("Others", events=["post.deleted"])

    result = call(event="post.published", payload={"type": "blog", "locale": "en", "title": "Tea"})

    told = result.structured_content
    assert told["body"]["event"] == "post.published"
    assert told["body"]["data"] == {"type": "blog", "locale": "en", "title": "Tea"}
    assert told["body"]["simulated"] is True
    [receiver] = told["receivers"]
    assert (receiver["name"], receiver["host"], receiver.get("test", False)) == (
        "Search",
        "search.example",
        True,
    )
    assert (receiver["signedWith"], receiver.get("deliveryId")) == ("its own secret", None)
    assert {"X-Team", "X-Hub-Signature-256", "X-Webhook-Event"} <= set(receiver["headers"])
    assert SECRET not in str(result)
    assert VALUE not in str(result)
    assert not Event.objects.filter(name="webhook.simulated").exists()
    assert not Delivery.objects.exists()


def test_filters_by_type_and_language_leave_out(settings: Any) -> None:
    make.webhook("Pages", types=["page"])
    make.webhook("German", locales=["de"])
    make.webhook("All")

    result = call(event="post.published", payload={"type": "page", "locale": "en"})

    names = [receiver["name"] for receiver in result.structured_content["receivers"]]
    assert names == ["All", "Pages"]


def test_it_is_sent_to_webhooks_for_tests_alone(
    receiver: Receiver, run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.webhook("Real", url="https://real.example/hook")
    row = make.webhook("Test", secret=SECRET, test=True)
    type(row).objects.filter(pk=row.pk).update(url=receiver.url("/hook"))

    with run_on_commit():
        result = call(event="post.published", send=True)

    [seen] = receiver.at("/hook")
    assert seen.headers["x-webhook-event"] == "post.published"
    assert seen.headers["x-hub-signature-256"].startswith("sha256=")
    body = seen.json()
    assert (body["event"], body["simulated"]) == ("post.published", True)
    assert body["data"]["title"] == "This is a test"
    [delivery] = Delivery.objects.all()
    assert (delivery.webhook_id, delivery.status) == (row.pk, "succeeded")
    by_name = {told["name"]: told for told in result.structured_content["receivers"]}
    assert "deliveryId" not in by_name["Real"]
    assert by_name["Test"]["deliveryId"] == str(delivery.pk)


def test_it_needs_the_grant_and_asks_no_role() -> None:
    make.webhook(test=True)

    refused = call(diagnostics=False, event="post.published", send=True)

    assert refused.is_error
    assert refused.meta["cms/error"]["code"] == "not_allowed"
    assert not Delivery.objects.exists()
    told = call(role="ai_agent", event="post.published").structured_content
    assert [receiver["name"] for receiver in told["receivers"]] == ["Search"]


def test_the_service_asks_for_the_right_itself() -> None:
    with pytest.raises(NotAllowed):
        simulate_event(actor=make.actor("editor"), event="post.published")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"event": "post.eaten"}, "event"),
        ({"event": "webhook.test"}, "event"),
        ({"event": "post.published", "payload": {"title": "x" * PAYLOAD_MAX_BYTES}}, "payload"),
        ({"event": "post.published", "payload": {"title": "nul\x00"}}, "payload.title"),
        ({"event": "post.published", "payload": {"title": "\ud800"}}, "payload.title"),
        ({"event": "post.published", "payload": {"n": 2**60}}, "payload.n"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "replace").decode(),
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], field: str) -> None:
    make.webhook(test=True)

    with pytest.raises(RuleViolation) as refused:
        simulate_event(actor=make.actor("admin"), send=True, **given)

    assert list(refused.value.details) == [field]
    assert not Event.objects.filter(name="webhook.simulated").exists()
    assert not Delivery.objects.exists()
