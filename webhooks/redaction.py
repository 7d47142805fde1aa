"""What of a call may be stored: no secret that went out, and none that came back."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

import orjson

from core.redaction import secrets_of_service
from webhooks.lanes import Outgoing
from webhooks.models import Webhook

HIDDEN: Final = "•••"
BODY_BYTES: Final = 4096
_READ: Final = 4 * BODY_BYTES
"""Of an answer: looking through all of a long one would hold up the others."""
_HEADERS: Final = 60
_HEADER_CHARACTERS: Final = 500
# A shorter one would blank out ordinary words.
_SHORTEST: Final = 6
# A kind of content or a name of something: hidden everywhere, it would blank out what nobody keeps secret.
_ORDINARY: Final = re.compile(r"[a-z]+/[\w.+-]+|[A-Za-z]{1,15}")
_CREDENTIAL: Final = re.compile(r"(?i)cookie|auth|token|secret|passw|credential|session|api-?key")


class Redactor:
    """Knows the secrets of one call, in every spelling in which a receiver may give them back."""

    def __init__(self, call: Outgoing) -> None:
        self._own = {name.lower() for name in call.headers}
        words = {spelling for secret in _secrets_of(call) for spelling in _spellings(secret)}
        ordered = sorted((word for word in words if len(word) >= _SHORTEST), key=len, reverse=True)
        self._longest = len(ordered[0]) if ordered else 1
        either = "|".join(map(re.escape, ordered))
        # Headers and percent signs are written in capitals or not.
        self._pattern = re.compile(either, re.IGNORECASE) if ordered else None

    def text(self, text: str) -> str:
        """Without secrets, and without the character NUL, which no database takes."""
        clean = text.replace("\x00", "\ufffd")
        return self._pattern.sub(HIDDEN, clean) if self._pattern else clean

    def request_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Whatever the receiver's own headers hold is hidden: nobody knows which of them are credentials."""
        return {
            name: HIDDEN if name.lower() in self._own else self.text(value)
            for name, value in headers.items()
        }

    def response_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        kept = list(headers.items())[:_HEADERS]
        return {
            self.text(name)[:100]: (
                HIDDEN if _CREDENTIAL.search(name) else self.text(value)[:_HEADER_CHARACTERS]
            )
            for name, value in kept
        }

    def body(self, body: bytes) -> str:
        """The beginning of an answer, whatever its bytes are."""
        whole = body.decode("utf-8", "replace")
        text = self.text(whole[:_READ])
        if len(whole) > _READ:
            # At the cut there may be a part of a secret, which nobody knows for one.
            before, hidden, end = text.rpartition(HIDDEN)
            text = before + hidden + end[: -self._longest]
        return text.encode()[:BODY_BYTES].decode("utf-8", "ignore")


def _secrets_of(call: Outgoing) -> Iterable[str]:
    yield from call.secrets
    if call.keys is not None:
        yield from (call.keys.current, call.keys.previous)
    for value in call.headers.values():
        yield value
        yield value.rpartition(" ")[2]  # what follows "Bearer"
    query = urlsplit(call.url).query
    for _, value in parse_qsl(query):
        yield value
    for pair in query.split("&"):
        yield pair.partition("=")[2]  # as it was written
    yield from secrets_of_service()


def kept_secrets() -> Iterable[str]:
    """Those that webhooks have of their own, and what their headers hold. One query."""
    for own, before, headers in Webhook.objects.values_list("secret", "previous_secret", "headers"):
        yield from (own, before)
        for value in map(str, headers.values()):
            words = (value, value.rpartition(" ")[2])  # what follows "Bearer"
            yield from (word for word in words if not _ORDINARY.fullmatch(word))


@lru_cache(maxsize=1000)
def _spellings(secret: str) -> tuple[str, ...]:
    in_json = orjson.dumps(secret).decode()[1:-1]
    return (
        secret,
        in_json,
        in_json.replace("/", "\\/"),  # as PHP writes it
        html.escape(secret),
        quote(secret),
        quote(secret, safe=""),
        base64.b64encode(secret.encode()).decode().rstrip("="),
    )
