"""Webhooks and deliveries over the API: reads can be written back, secrets cannot be read."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.models import Event
from proofroom.core.redaction import SECRET_MASK
from proofroom.webhooks.models import Attempt, Delivery, Webhook
from proofroom.webhooks.models.webhook import WebhookChanges
from proofroom.webhooks.services.webhooks import update_webhook
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit
from tests.contract.endpoint import areas
from tests.contract.test_admin_walk import ADDRESSES
from tests.receiver import Receiver, Reply, Trick
from tests.webhooks import sending

pytestmark = pytest.mark.django_db

SECRET = "canary-secret-of-the-webhook"

VALUE = "canary-value-of-a-header"

BODY = {
    "name": "Search",
    "url": "https://search.example/hook",
    "events": ["post.published", "form.submitted"],
    "types": ["blog"],
    "locales": ["de"],
    "headers": {"Authorization": VALUE},
    "secret": SECRET,
}


def made(**values: Any) -> dict[str, Any]:
    answer: dict[str, Any] = ApiClient("admin").write(
        "POST", "/api/webhooks", {**BODY, **values}, expect=201
    )
    return answer


def test_a_webhook_is_made_and_read() -> None:
    client = ApiClient("admin")

    answer = client.send("POST", "/api/webhooks", BODY)
    wire = answer.json()

    assert answer.status_code == 201
    assert answer["Location"] == f"/api/webhooks/{wire['id']}"
    row = Webhook.objects.get()
    assert (row.secret, row.headers) == (SECRET, {"Authorization": VALUE})
    assert client.read(f"/api/webhooks/{row.pk}") == wire
    assert {**wire, "id": 0, "createdAt": 0, "updatedAt": 0} == {
        "id": 0,
        "name": "Search",
        "url": "https://search.example/hook",
        "events": ["form.submitted", "post.published"],
        "types": ["blog"],
        "locales": ["de"],
        "headers": {"Authorization": SECRET_MASK},
        "hasSecret": True,
        "secretRotatesUntil": None,
        "active": True,
        "test": False,
        "failingSince": None,
        "disabledAt": None,
        "disabledReason": None,
        "lastDelivery": None,
        "replaying": False,
        "replayLeft": 0,
        "version": 1,
        "createdAt": 0,
        "updatedAt": 0,
    }


def test_what_was_read_can_be_put_back() -> None:
    client = ApiClient("admin")
    wire = made()

    again = client.write("PATCH", f"/api/webhooks/{wire['id']}", wire)

    assert again == wire
    row = Webhook.objects.get()
    assert (row.secret, row.headers, row.version) == (SECRET, {"Authorization": VALUE}, 1)


def test_secrets_stand_in_no_answer() -> None:
    """Threat 41: secrets cannot be read anywhere, including logs and errors."""
    client = ApiClient("admin")
    wire = made()
    path = f"/api/webhooks/{wire['id']}"
    answers = [
        client.send("PATCH", path, {"secret": f"{SECRET}-2"}),
        client.send("PATCH", path, {"secret": SECRET, "name": ""}),
        client.send("PATCH", path, {"headers": {"Host": VALUE}}),
        client.send("PATCH", path, {"secret": [SECRET]}),
        client.get("/api/webhooks"),
        client.get(path),
        client.send("POST", f"{path}/test"),
        client.get("/api/webhook-deliveries"),
        client.get(f"/api/webhook-deliveries/{Delivery.objects.get().pk}"),
    ]

    assert [answer.status_code for answer in answers] == [
        200, 422, 422, 422, 200, 200, 200, 200, 200,
    ]  # fmt: skip
    for answer in answers:
        assert "canary" not in answer.content.decode()
    assert "canary" not in str(list(Event.objects.values()))


def test_if_match_and_version_refuse_lost_updates() -> None:
    client = ApiClient("admin")
    path = f"/api/webhooks/{made()['id']}"
    etag = client.get(path)["ETag"]
    client.write("PATCH", path, {"name": "First"}, HTTP_IF_MATCH=etag)

    by_etag = client.write("PATCH", path, {"name": "Second"}, expect=409, HTTP_IF_MATCH=etag)
    by_version = client.write("PATCH", path, {"name": "Second", "version": 1}, expect=409)

    for answer in (by_etag, by_version):
        assert (answer["code"], answer["version"]) == ("stale_version", 2)
    assert Webhook.objects.get().name == "First"


@pytest.mark.parametrize(
    "body",
    [
        {"name": 1},
        {"events": "post.published"},
        {"events": [1]},
        {"events": ["post.published"] * 1000},
        {"headers": []},
        {"headers": {"X-A": 1}},
        {"headers": {f"X-{number}": "x" for number in range(5000)}},
        {"active": 1},
        {"active": None, "test": "yes"},
        {"secret": "x" * 1_000_000},
        {"url": "https://x.example/" + "x" * 1_000_000},
        {"version": True},
        {"version": -1},
        {"nonsense": 1},
    ],
    ids=lambda body: str(body)[:40],
)
def test_what_does_not_fit_is_422(body: dict[str, Any]) -> None:
    client = ApiClient("admin")
    path = f"/api/webhooks/{made()['id']}"
    before = list(Webhook.objects.values())

    answer = client.write("PATCH", path, body, expect=422)

    assert answer["details"]
    assert len(answer["error"]) < 1000
    assert list(Webhook.objects.values()) == before


def test_a_test_reaches_this_webhook_only(receiver: Receiver, run_on_commit: RunOnCommit) -> None:
    made(name="Other")
    row = make.webhook(secret=SECRET, active=False)
    Webhook.objects.filter(pk=row.pk).update(url=receiver.url("/hook"))
    client = ApiClient("admin")

    with run_on_commit():
        wire = client.write("POST", f"/api/webhooks/{row.pk}/test")

    [seen] = receiver.at("/hook")
    assert seen.headers["x-webhook-delivery"] == wire["id"]
    assert (wire["event"], wire["webhookId"]) == ("webhook.test", str(row.pk))
    found = client.read(f"/api/webhook-deliveries/{wire['id']}")
    assert (found["status"], found["statusCode"], found["attempts"]) == ("succeeded", 200, 1)
    assert found["body"] == seen.body.decode()
    assert [(one["number"], one["statusCode"]) for one in found["tries"]] == [(1, 200)]
    assert client.read(f"/api/webhooks/{row.pk}")["lastDelivery"]["id"] == wire["id"]


def test_deliveries_are_filtered() -> None:
    client = ApiClient("admin")
    one, two = make.webhook(), make.webhook("Other")
    event = make.event()
    failed = make.delivery(event, one)
    done = make.delivery(event, two, status="succeeded", code=200)
    Delivery.objects.create(
        lane="workflow:notify", workflow_id="notify", event=event, event_name="form.submit"
    )
    Delivery.objects.create(lane="chat", event=event, event_name=event.name)

    def ids(query: str) -> set[str]:
        return {row["id"] for row in client.read(f"/api/webhook-deliveries?{query}")["data"]}

    assert len(ids("")) == 4
    assert ids(f"webhookId={one.pk}") == {str(failed.pk)}
    assert ids("status=succeeded") == {str(done.pk)}
    assert ids("receiver=webhook") == {str(failed.pk), str(done.pk)}
    assert len(ids("receiver=chat")) == 1
    assert ids("workflowId=notify") == ids("receiver=workflow") == ids("event=form.submit")
    assert len(ids("workflowId=notify")) == 1
    for query in ("webhookId=1", "receiver=mail", "event=" + "x" * 61):
        assert client.get(f"/api/webhook-deliveries?{query}").status_code == 422


def test_a_finished_delivery_is_sent_again_under_its_id() -> None:
    client = ApiClient("admin")
    row = make.delivery(make.event(), make.webhook())

    answer = client.write("POST", f"/api/webhook-deliveries/{row.pk}/replay")

    assert (answer["id"], answer["status"], answer["attempts"]) == (str(row.pk), "pending", 0)
    assert (
        client.write("POST", f"/api/webhook-deliveries/{row.pk}/replay", expect=409)["code"]
        == "delivery_unfinished"
    )


def test_sending_again_shows_how_far_it_is_and_can_be_stopped() -> None:
    client = ApiClient("admin")
    row = make.webhook()
    make.event()
    make.event()
    path = f"/api/webhooks/{row.pk}"

    begun = client.write("POST", f"{path}/replay", {"since": "2020-01-01T00:00:00Z"})
    twice = client.write("POST", f"{path}/replay", {"since": "2020-01-01T00:00:00Z"}, expect=409)
    stopped = client.write("POST", f"{path}/replay/cancel")

    assert (begun["replaying"], begun["replayLeft"]) == (True, 2)
    assert twice["code"] == "replay_running"
    assert (stopped["replaying"], stopped["replayLeft"]) == (False, 0)
    for since in ("2020-01-01", 0, "2999-01-01T00:00:00Z", None, "0001-01-01T00:00:00+14:00"):
        client.write("POST", f"{path}/replay", {"since": since}, expect=422)


def test_words_of_visitors_are_for_who_reads_submissions() -> None:
    """Threat 56: users who only manage webhooks see that a submission happened, not its content."""
    row = make.delivery(
        make.event("form.submitted", payload={"message": "canary words"}),
        make.webhook(events=["form.submitted"]),
    )
    path = f"/api/webhook-deliveries/{row.pk}"
    _, narrow = token_of(make.user("admin"), "webhooks.manage")
    _, wide = token_of(make.user("admin"), "webhooks.manage", "forms.submissions")

    withheld, shown = program(narrow).read(path), program(wide).read(path)

    assert "canary words" in shown["body"]
    assert shown["tries"][0]["responseBody"] == "what came back"
    assert (withheld["body"], withheld["tries"][0]["responseBody"]) == (None, "")
    assert withheld["withheld"] == "What this event says is for accounts with forms.submissions."
    assert "canary words" not in str(withheld)


SECRETS = ("canary-own-secret-1", "canary-own-secret-2", "canary-shared-secret")


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


def test_no_row_beside_the_webhook_contains_a_secret(told: Webhook) -> None:
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
