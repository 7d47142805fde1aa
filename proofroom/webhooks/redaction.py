"""Redaction of stored calls: no secret that was sent or returned is stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from proofroom.core.redaction import (
    MIN_SECRET_LENGTH,
    SECRET_MASK,
    secrets_of_service,
    spellings_of_all,
)
from proofroom.webhooks.delivery_channels import OutgoingRequest
from proofroom.webhooks.models import Webhook

BODY_BYTES: Final = 4096
BODY_CHARACTERS_READ: Final = 4 * BODY_BYTES
"""Characters of a response that are searched for secrets. Searching all of a long one would delay other calls."""
MAX_HEADERS: Final = 60
HEADER_MAX_CHARACTERS: Final = 500
# A media type or a single word. Hiding it everywhere would remove text that is not secret.
ORDINARY_VALUE: Final = re.compile(r"[a-z]+/[\w.+-]+|[A-Za-z]{1,15}")
CREDENTIAL_HEADER: Final = re.compile(
    r"(?i)cookie|auth|token|secret|passw|credential|session|api-?key"
)


class RequestRedactor:
    """Hides the secrets of a request, in every spelling in which a receiver may return them."""

    def __init__(self, request: OutgoingRequest) -> None:
        self._own = {name.lower() for name in request.headers}
        # Short values are no credentials, and hiding them would blank out ordinary words.
        secrets = {one for one in secrets_of_request(request) if len(one) >= MIN_SECRET_LENGTH}
        ordered = spellings_of_all(secrets)
        self._longest = len(ordered[0]) if ordered else 1
        either = "|".join(map(re.escape, ordered))
        self._pattern = re.compile(either, re.IGNORECASE) if ordered else None

    def text(self, text: str) -> str:
        """Return the text without secrets and NUL characters, which PostgreSQL refuses."""
        clean = text.replace("\x00", "\ufffd")
        return self._pattern.sub(SECRET_MASK, clean) if self._pattern else clean

    def request_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Hide all values of the receiver's own headers, because any of them can be a credential."""
        return {
            name: SECRET_MASK if name.lower() in self._own else self.text(value)
            for name, value in headers.items()
        }

    def response_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        first_headers = list(headers.items())[:MAX_HEADERS]
        return {
            self.text(name)[:100]: (
                SECRET_MASK
                if CREDENTIAL_HEADER.search(name)
                else self.text(value)[:HEADER_MAX_CHARACTERS]
            )
            for name, value in first_headers
        }

    def body(self, body: bytes) -> str:
        """Return the beginning of a response as text, for any bytes."""
        whole = body.decode("utf-8", "replace")
        text = self.text(whole[:BODY_CHARACTERS_READ])
        if len(whole) > BODY_CHARACTERS_READ:
            # A secret that is cut off at the end is not recognized, so the end is removed, too.
            before, hidden, end = text.rpartition(SECRET_MASK)
            text = before + hidden + end[: -self._longest]
        return text.encode()[:BODY_BYTES].decode("utf-8", "ignore")


def secrets_of_request(request: OutgoingRequest) -> Iterable[str]:
    yield from request.secrets
    if request.keys is not None:
        yield from (request.keys.current, request.keys.previous)
    for value in request.headers.values():
        yield value
        yield value.rpartition(" ")[2]  # the credential after "Bearer"
    query = urlsplit(request.url).query
    for _, value in parse_qsl(query):
        yield value
    for pair in query.split("&"):
        yield pair.partition("=")[2]  # still percent-encoded
    yield from secrets_of_service()


def stored_secrets() -> Iterable[str]:
    """Yield the secrets of webhooks and the values of their headers. One query."""
    for own, before, headers in Webhook.objects.values_list("secret", "previous_secret", "headers"):
        yield from (own, before)
        for value in map(str, headers.values()):
            words = (value, value.rpartition(" ")[2])  # the credential after "Bearer"
            yield from (word for word in words if not ORDINARY_VALUE.fullmatch(word))
