"""Secrets in any form are not stored when a receiver returns them."""

from __future__ import annotations

import base64
import html
import json
from typing import Any
from urllib.parse import quote

import pytest
from django.core import serializers

from proofroom.webhooks.models import Attempt, Delivery
from proofroom.webhooks.redaction import BODY_BYTES
from tests.receiver import Receiver, Reply, Trick
from tests.webhooks import sending

pytestmark = pytest.mark.django_db
OWN = 'own "secret" & more'
PREVIOUS = "previous-secret-1234"
BEARER = "bearer-token-98765"
QUERY = "token-in-the-query"
KEY = 'key/12+345=&"6'
WRITTEN = "other%2fkey%61"
AGENT = "agent-secret-of-all"


def _stored() -> str:
    return str(serializers.serialize("json", [*Attempt.objects.all(), *Delivery.objects.all()]))


def _webhook(receiver: Receiver) -> None:
    sending.webhook(
        receiver,
        url=receiver.url(f"/hook?key={QUERY}&other={WRITTEN}"),
        secret=OWN,
        previous_secret=PREVIOUS,
        headers={"Authorization": f"Bearer {BEARER}", "X-Short": "abc", "X-Key": KEY},
    )


def test_values_of_own_headers_are_not_kept(receiver: Receiver) -> None:
    _webhook(receiver)
    event = sending.happened()

    sending.send()

    [attempt] = sending.attempts_of(event)
    kept = {
        name: value
        for name, value in attempt.request_headers.items()
        if not name.startswith(("X-Webhook", "X-Hub", "Content"))
    }
    assert kept == {"Authorization": "•••", "X-Short": "•••", "X-Key": "•••"}
    assert receiver.at("/hook")[0].headers["authorization"] == f"Bearer {BEARER}"


def test_what_a_receiver_echoes_is_hidden(receiver: Receiver) -> None:
    _webhook(receiver)
    receiver.say("/hook", Reply(trick=Trick.ECHO))
    event = sending.happened()

    sending.send()

    [attempt] = sending.attempts_of(event)
    told = json.loads(attempt.response_body)
    assert (told["authorization"], told["x-key"]) == ("•••", "•••")
    assert told["x-webhook-event"] == "post.updated"
    assert BEARER not in _stored()


@pytest.mark.parametrize("secret", [OWN, PREVIOUS, BEARER, QUERY, WRITTEN, KEY, AGENT])
@pytest.mark.parametrize("status", [200, 500])
def test_every_secret_is_hidden_in_every_spelling(
    receiver: Receiver, env: Any, secret: str, status: int
) -> None:
    env(agent_secret=AGENT)
    _webhook(receiver)
    spellings = [
        secret,
        json.dumps(secret),
        json.dumps(secret).replace("/", "\\/"),
        html.escape(secret),
        quote(secret),
        quote(secret, safe=""),
        quote(secret, safe="").lower(),
        base64.b64encode(secret.encode()).decode(),
    ]
    body = "\n".join([*spellings, "the rest"]).encode()
    headers = {"X-Echo": secret, "Location": f"/?a={quote(secret, safe='')}"}
    receiver.say("/hook", Reply(status, headers=headers, body=body))
    event = sending.happened()

    sending.send()

    stored = _stored()
    [attempt] = sending.attempts_of(event)
    assert attempt.response_body.endswith("the rest")
    assert not [word for word in spellings if word.strip('"=') in attempt.response_body]
    assert attempt.response_headers["x-echo"] == "•••"
    assert secret not in stored
    assert quote(secret, safe="") not in stored


def test_credentials_in_headers_of_the_answer_are_not_kept(receiver: Receiver) -> None:
    sending.webhook(receiver)
    headers = {
        "Set-Cookie": "sid=abc",
        "WWW-Authenticate": "Basic realm=x",
        "X-Api-Key": "abc",
        "X-Session-Token": "abc",
        "Server": "test",
    }
    receiver.say("/hook", Reply(headers=headers))
    event = sending.happened()

    sending.send()

    [attempt] = sending.attempts_of(event)
    assert attempt.response_headers == {
        "set-cookie": "•••",
        "www-authenticate": "•••",
        "x-api-key": "•••",
        "x-session-token": "•••",
        "server": "test",
        "content-length": "2",
    }


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b"a\x00b", "a\ufffdb"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        ("ü".encode() * 4000, "ü" * 2048),
        (b"x" + "ü".encode() * 4000, "x" + "ü" * 2047),
        (b"", ""),
    ],
    ids=["nul", "bytes", "surrogate", "long", "odd", "empty"],
)
def test_any_bytes_can_be_stored(receiver: Receiver, body: bytes, kept: str) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(500, body=body))
    event = sending.happened()

    sending.send()

    [attempt] = sending.attempts_of(event)
    assert attempt.response_body == kept
    assert len(attempt.response_body.encode()) <= BODY_BYTES


def test_a_secret_across_the_cut_leaves_no_part(receiver: Receiver) -> None:
    sending.webhook(receiver)
    body = b"x" * (BODY_BYTES - 4) + sending.SECRET.encode()
    receiver.say("/hook", Reply(body=body))
    event = sending.happened()

    sending.send()

    [attempt] = sending.attempts_of(event)
    assert sending.SECRET[:4] not in attempt.response_body


def test_long_secrets_again_and_again_leave_no_part(receiver: Receiver) -> None:
    long = "".join(f"<{place:05d}>" for place in range(140))
    sending.webhook(receiver, headers={"X-Long": long})
    receiver.say("/hook", Reply(body=long.encode() * 60))
    event = sending.happened()

    sending.send()

    [attempt] = sending.attempts_of(event)
    assert set(attempt.response_body) == {"•"}


def test_many_and_long_headers_are_cut(receiver: Receiver) -> None:
    sending.webhook(receiver)
    many = {f"X-{place}": "v" * 200 for place in range(90)}
    receiver.say("/hook", Reply(headers={"X-Long": "v" * 5000, **many}))
    event = sending.happened()

    sending.send()

    [attempt] = sending.attempts_of(event)
    assert len(attempt.response_headers) == 60
    assert attempt.response_headers["x-long"] == "v" * 500
