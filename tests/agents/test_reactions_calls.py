"""Calls of reactions: retried, replayed, guarded, signed; secrets stay hidden."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import get_agent
from agents_app.models import AgentRun
from agents_app.reactions.dispatch import start_reactions
from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom.webhooks.delivery import send_due
from proofroom.webhooks.models import Attempt, Delivery
from proofroom.webhooks.services.replay import replay_delivery
from tests import make
from tests.agents.environment import set_env
from tests.agents.reactions import chat, ended, outcomes, tool, webhook, write_reacting
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit
from tests.receiver import Receiver, Reply

pytestmark = pytest.mark.django_db
SECRET = "shared-secret-123456"
CANARY = "canary-credential-98765"


def test_what_fails_for_now_is_tried_again_and_what_is_refused_is_not(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, webhook(receiver.url("/busy")), webhook(receiver.url("/no")))
    receiver.say("/busy", Reply(503))
    receiver.say("/no", Reply(400))

    with run_on_commit():
        run = ended()

    assert outcomes(run) == [
        (1, "webhook", "pending", 1, "The address answered 503."),
        (2, "webhook", "failed", 1, "The address answered 400."),
    ]


def test_a_delivery_is_sent_again_from_its_page(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, webhook(receiver.url("/hook")))
    receiver.say("/hook", Reply(400), Reply(204))
    with run_on_commit():
        run = ended()
    delivery = Delivery.objects.get()
    admin = ApiClient("admin")
    for page in (
        "/admin/proofroom_webhooks/delivery/",
        f"/admin/proofroom_webhooks/delivery/{delivery.pk}/change/",
    ):
        assert "Reaction 1 of reactor" in admin.get(page).content.decode()

    with run_on_commit():
        replay_delivery(delivery_id=delivery.pk, actor=make.actor("admin"))

    assert outcomes(run) == [(1, "webhook", "succeeded", 1, "")]
    first, second = receiver.at("/hook")
    assert first.body == second.body
    assert first.headers["x-webhook-delivery"] == second.headers["x-webhook-delivery"]


def test_threat_53_a_reaction_reaches_no_private_address(
    agents_dir: Path, run_on_commit: RunOnCommit, receiver: Receiver, settings: Any
) -> None:
    write_reacting(
        agents_dir, webhook(receiver.url("/hook")), chat("Done.", webhookUrl=receiver.url("/c"))
    )
    assert get_agent("reactor") is not None
    # The file was read while the address was allowed; each call checks again.
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"outgoing_allowed_hosts": ()})

    with run_on_commit():
        run = ended()

    assert [(row[2], "127.0.0.1" in row[4]) for row in outcomes(run)] == [("failed", True)] * 2, (
        outcomes(run)
    )
    assert receiver.requests == []
    definitions.reload()
    assert get_agent("reactor") is None, "a file that names a private address is refused"


def test_threat_41_the_credentials_of_a_reaction_are_sent_and_shown_nowhere(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit, settings: Any
) -> None:
    set_env(settings, workflow_secrets={"crm": CANARY}, agent_secret=SECRET)
    headers = {"Authorization": "Bearer {{secret.crm}}", "X-Plain": "yes"}
    write_reacting(
        agents_dir, webhook(receiver.url("/hook"), headers=headers, bodyTemplate='"{{agent}}"')
    )
    receiver.say("/hook", Reply(200, body=f"you sent {CANARY}".encode()))

    with run_on_commit():
        run = ended()

    [seen] = receiver.at("/hook")
    assert (seen.headers["authorization"], seen.headers["x-plain"]) == (f"Bearer {CANARY}", "yes")
    client = ApiClient("admin")
    delivery = Delivery.objects.get()
    pages = [
        client.get(f"/api/webhook-deliveries/{delivery.pk}").content.decode(),
        client.get(f"/api/agent-runs/{run.pk}/reactions").content.decode(),
        json.dumps(list(Attempt.objects.values()), default=str),
        json.dumps(list(Event.objects.values()), default=str),
    ]
    assert [page for page in pages if CANARY in page or SECRET in page] == []
    assert client.get("/api/webhook-deliveries?receiver=reaction").json()["meta"]["total"] == 1


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_call_without_a_body_is_signed_all_the_same(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit, settings: Any, method: str
) -> None:
    set_env(settings, agent_secret=SECRET)
    write_reacting(agents_dir, webhook(receiver.url("/hook"), method=method))

    with run_on_commit():
        ended()

    [seen] = receiver.at("/hook")
    assert (seen.method, seen.body) == (method, b"")
    assert "content-type" not in seen.headers
    signed = "sha256=" + hmac.new(SECRET.encode(), b"", hashlib.sha256).hexdigest()
    assert seen.headers["x-hub-signature-256"] == signed


def _waiting(agents_dir: Path, url: str) -> Delivery:
    write_reacting(agents_dir, webhook(url))
    ended(event=outbox.record("form.submit", actor=make.actor("admin"), payload={"a": "b"}))
    start_reactions(Event.objects.get(name="agent.run.finished"))
    return Delivery.objects.get()


@pytest.mark.parametrize("gone", ["run", "words", "file", "reaction"])
def test_what_is_gone_before_a_call_is_not_sent(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit, gone: str
) -> None:
    delivery = _waiting(agents_dir, receiver.url("/hook"))
    if gone == "run":
        AgentRun.objects.all().delete()
    elif gone == "words":
        outbox.forget([Event.objects.get(name="form.submit").pk])
    elif gone == "file":
        (agents_dir / "reactor.json").write_text("{")
    else:
        write_reacting(agents_dir, tool("list_agents"))
    definitions.reload()

    send_due()

    delivery.refresh_from_db()
    assert receiver.requests == []
    assert delivery.status == "cancelled"
    sentence = {
        "run": "The run was deleted.",
        "words": "The words of this event were deleted.",
    }.get(gone, "The reaction is not in the agent's file any more, or the file cannot be read.")
    assert delivery.last_error == sentence
