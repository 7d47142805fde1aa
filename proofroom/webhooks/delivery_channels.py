"""Channels of deliveries: which request a kind of receiver gets. Attempts, order and retries they share.

The channel of a delivery (`Delivery.lane`) is `<prefix>` or `<prefix>:<which>`; each prefix has one `Channel`,
registered at start. What is sent is made of the event each time: the same bytes at every attempt.
What is stored of a call holds no secret that went out, and none that came back.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.utils import timezone

from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import Json, format_time, sorted_json
from proofroom.core.models import Event
from proofroom.core.redaction import (
    MIN_SECRET_LENGTH,
    SECRET_MASK,
    secrets_of_service,
    spellings_of_all,
)
from proofroom.webhooks.models import Delivery, Webhook

SIGNATURE = "X-Hub-Signature-256"
PREVIOUS_SIGNATURE = "X-Hub-Signature-256-Previous"


@dataclass(frozen=True, slots=True)
class Keys:
    """The secret that signs, and the one before it while receivers learn the new one. Empty: there is none."""

    current: str = field(repr=False)
    previous: str = field(default="", repr=False)


def shared_keys() -> Keys:
    """Return the keys of the whole service: AGENT_SECRET."""
    env = settings.CMS_ENV
    return Keys(env.agent_secret or "", env.agent_secret_previous or "")


def keys_of(webhook: Webhook) -> Keys:
    """Return its own secret, else the shared one. Its own previous secret signs along until its time is over."""
    shared = shared_keys()
    until = webhook.previous_secret_until
    own_previous = webhook.previous_secret if until and until > timezone.now() else ""
    if webhook.secret:
        return Keys(webhook.secret, own_previous)
    return Keys(shared.current, own_previous or shared.previous)


def signature(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def signed_headers(keys: Keys, body: bytes) -> dict[str, str]:
    """Return the signatures; none if there is no secret: such a call goes out unsigned."""
    pairs = ((SIGNATURE, keys.current), (PREVIOUS_SIGNATURE, keys.previous))
    return {name: signature(secret, body) for name, secret in pairs if secret}


SIMULATED: Final = "webhook.simulated"
"""An event that did not happen: its payload is the `event` and the `data` that receivers are shown."""
OWN_HEADERS: Final = frozenset(
    {"content-type", "content-length", "host", "transfer-encoding", "connection"}
)
OWN_HEADER_PREFIXES: Final = ("x-webhook-", "x-hub-signature", "x-agent-run")


class NothingToSend(Exception):
    """A delivery has nothing to send, and never will have. `reason` is a sentence for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request as its channel makes it.

    `headers` are the receiver's own; their values are never stored. `secrets` are further words to keep out of
    what is stored. With `keys` the body is signed. `is_named` sends the headers that name event and delivery,
    `extra_headers` are further ones of ours, which hold no secret.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    keys: Keys | None = None
    method: str = "POST"
    is_named: bool = True
    content_type: str = "application/json"
    extra_headers: Mapping[str, str] = field(default_factory=dict)


class DeliveryChannel(Protocol):
    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        """Make the request. `delivery.event` and `delivery.webhook` are loaded. Raises `NothingToSend`."""


channels: ExtensionPoint[DeliveryChannel] = ExtensionPoint()
"""By prefix: each makes the requests of every delivery whose lane is its prefix or begins with `prefix:`."""


def build_request(delivery: Delivery) -> OutgoingRequest:
    """Make the request of a delivery. Raises `NothingToSend`."""
    channel = channels.get(delivery.receiver)
    if channel is None:
        raise NothingToSend("Nothing here knows this receiver any more.")
    return channel.build_request(delivery)


class WebhookChannel:
    """Calls the address of a webhook, with its headers, signed with its secret."""

    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        webhook = delivery.webhook
        if webhook is None:
            raise NothingToSend("The webhook was deleted.")
        if delivery.event.forgotten_at is not None:
            raise NothingToSend("The words of this event were deleted.")
        return OutgoingRequest(
            url=webhook.url,
            headers=webhook.headers,
            body=sorted_json(event_body(delivery.event)),
            secrets=(webhook.secret, webhook.previous_secret),
            keys=keys_of(webhook),
        )


def event_body(event: Event) -> dict[str, Json]:
    """Return the event as receivers know it; one that was only simulated says so."""
    body: dict[str, Json] = {
        "id": str(event.uid),
        "event": event.name,
        "createdAt": format_time(event.created_at),
        "data": event.payload,
    }
    return {**body, **event.payload, "simulated": True} if event.name == SIMULATED else body


def request_headers(delivery: Delivery, request: OutgoingRequest, at: datetime) -> dict[str, str]:
    """Return the headers of one attempt. The receiver's own headers never replace ours."""
    own = {
        name: value
        for name, value in request.headers.items()
        if name.lower() not in OWN_HEADERS and not name.lower().startswith(OWN_HEADER_PREFIXES)
    }
    named = {
        "X-Webhook-Event": delivery.event_name,
        "X-Webhook-Delivery": str(delivery.pk),
        "X-Webhook-Timestamp": str(int(at.timestamp())),
        "X-Webhook-Version": str(delivery.event.version),
    }
    return {
        **own,
        **({"Content-Type": request.content_type} if request.body else {}),
        **(named if request.is_named else {}),
        **request.extra_headers,
        **(signed_headers(request.keys, request.body) if request.keys else {}),
    }


BODY_BYTES: Final = 4096
BODY_CHARACTERS_READ: Final = 4 * BODY_BYTES
"""Of an answer: looking through all of a long one would hold up the others."""
MAX_HEADERS: Final = 60
HEADER_MAX_CHARACTERS: Final = 500
# A kind of content or a name of something: hidden everywhere, it would blank out what nobody keeps secret.
ORDINARY_VALUE: Final = re.compile(r"[a-z]+/[\w.+-]+|[A-Za-z]{1,15}")
CREDENTIAL_HEADER: Final = re.compile(
    r"(?i)cookie|auth|token|secret|passw|credential|session|api-?key"
)


class RequestRedactor:
    """Hides the secrets of one request, in every spelling in which a receiver may give them back."""

    def __init__(self, request: OutgoingRequest) -> None:
        self._own = {name.lower() for name in request.headers}
        secrets = {one for one in secrets_of_request(request) if len(one) >= MIN_SECRET_LENGTH}
        ordered = spellings_of_all(secrets)
        self._longest = len(ordered[0]) if ordered else 1
        either = "|".join(map(re.escape, ordered))
        self._pattern = re.compile(either, re.IGNORECASE) if ordered else None

    def text(self, text: str) -> str:
        """Return the text without secrets, and without the character NUL, which no database takes."""
        clean = text.replace("\x00", "\ufffd")
        return self._pattern.sub(SECRET_MASK, clean) if self._pattern else clean

    def request_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Hide all values of the receiver's own headers: nobody knows which of them are credentials."""
        return {
            name: SECRET_MASK if name.lower() in self._own else self.text(value)
            for name, value in headers.items()
        }

    def response_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        kept = list(headers.items())[:MAX_HEADERS]
        return {
            self.text(name)[:100]: (
                SECRET_MASK
                if CREDENTIAL_HEADER.search(name)
                else self.text(value)[:HEADER_MAX_CHARACTERS]
            )
            for name, value in kept
        }

    def body(self, body: bytes) -> str:
        """Return the beginning of an answer, whatever its bytes are."""
        whole = body.decode("utf-8", "replace")
        text = self.text(whole[:BODY_CHARACTERS_READ])
        if len(whole) > BODY_CHARACTERS_READ:
            # At the cut there may be a part of a secret, which nobody knows for one.
            before, hidden, end = text.rpartition(SECRET_MASK)
            text = before + hidden + end[: -self._longest]
        return text.encode()[:BODY_BYTES].decode("utf-8", "ignore")


def secrets_of_request(request: OutgoingRequest) -> Iterable[str]:
    yield from request.secrets
    if request.keys is not None:
        yield from (request.keys.current, request.keys.previous)
    for value in request.headers.values():
        yield value
        yield value.rpartition(" ")[2]  # what follows "Bearer"
    query = urlsplit(request.url).query
    for _, value in parse_qsl(query):
        yield value
    for pair in query.split("&"):
        yield pair.partition("=")[2]  # as it was written
    yield from secrets_of_service()


def stored_secrets() -> Iterable[str]:
    """Return the secrets of webhooks, and what their headers hold. One query."""
    for own, before, headers in Webhook.objects.values_list("secret", "previous_secret", "headers"):
        yield from (own, before)
        for value in map(str, headers.values()):
            words = (value, value.rpartition(" ")[2])  # what follows "Bearer"
            yield from (word for word in words if not ORDINARY_VALUE.fullmatch(word))
