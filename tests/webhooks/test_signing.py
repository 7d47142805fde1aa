"""The signing secrets, and headers that users cannot override."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.receiver import Receiver
from tests.webhooks import sending

pytestmark = pytest.mark.django_db
OWN, OLD = "own-secret-now-1234", "own-secret-before-12"
SHARED, SHARED_OLD = "shared-secret-now-12", "shared-secret-before"


def _signers(receiver: Receiver) -> tuple[str, str]:
    [seen] = receiver.at("/hook")
    names = {
        "sha256=" + hmac.new(secret.encode(), seen.body, hashlib.sha256).hexdigest(): secret
        for secret in (OWN, OLD, SHARED, SHARED_OLD)
    }
    headers = [seen.headers.get(f"x-hub-signature-256{end}", "") for end in ("", "-previous")]
    return names.get(headers[0], headers[0]), names.get(headers[1], headers[1])


@pytest.mark.parametrize(
    ("secrets", "until", "signers"),
    [
        (("", ""), None, (SHARED, SHARED_OLD)),
        ((OWN, ""), None, (OWN, "")),
        ((OWN, OLD), 60, (OWN, OLD)),
        ((OWN, OLD), -60, (OWN, "")),
        ((OWN, OLD), None, (OWN, "")),
        (("", OLD), 60, (SHARED, OLD)),
        (("", OLD), -60, (SHARED, SHARED_OLD)),
    ],
    ids=["shared", "own", "rotating", "rotated", "no-time", "to-shared", "at-shared"],
)
def test_which_secret_signs(
    receiver: Receiver, env: Any, secrets: Any, until: Any, signers: Any
) -> None:
    env(agent_secret=SHARED, agent_secret_previous=SHARED_OLD)
    at = None if until is None else timezone.now() + timedelta(seconds=until)
    sending.webhook(
        receiver, secret=secrets[0], previous_secret=secrets[1], previous_secret_until=at
    )
    sending.happened()

    sending.send()

    assert _signers(receiver) == signers


def test_without_any_secret_nothing_is_signed(receiver: Receiver, env: Any) -> None:
    env(agent_secret=None, agent_secret_previous=None)
    sending.webhook(receiver, secret="")
    sending.happened()

    sending.send()

    assert _signers(receiver) == ("", "")


def test_headers_of_people_never_replace_ours(receiver: Receiver) -> None:
    forged = {
        "x-hub-signature-256": "sha256=00",
        "X-WEBHOOK-EVENT": "post.deleted",
        "X-Webhook-Delivery": "1",
        "x-hub-signature-256-previous": "sha256=00",
        "content-type": "text/plain",
    }
    sending.webhook(receiver, headers={**forged, "X-Mine": "kept"})
    event = sending.happened()

    sending.send()

    [seen] = receiver.at("/hook")
    signed = hmac.new(sending.SECRET.encode(), seen.body, hashlib.sha256).hexdigest()
    assert seen.headers["x-hub-signature-256"] == f"sha256={signed}"
    assert "x-hub-signature-256-previous" not in seen.headers
    assert seen.headers["x-webhook-event"] == "post.updated"
    assert seen.headers["x-webhook-delivery"] == str(sending.delivery_of(event).pk)
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["x-mine"] == "kept"
