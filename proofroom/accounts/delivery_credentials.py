"""Delivery tokens in requests for what is public. They give a frontend a rate of its own, and no permission."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from proofroom.accounts.models import DeliveryToken
from proofroom.accounts.services.account_tokens import hash_of
from proofroom.accounts.services.delivery_tokens import DELIVERY_TOKEN_PREFIX, note_use
from proofroom.core.api.django_request import django_request
from proofroom.core.api.exceptions import InvalidToken
from proofroom.core.api.throttles import WindowThrottle
from proofroom.core.caching.rate_limits import HitCount
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.hooks import Hook

_PATH: Final = "/api/public/"
"""The part of the API that delivery tokens are for."""
_PREVIEW: Final = "preview"
"""Scheme of the tokens for drafts."""
preview_tokens: Hook[[str], AbstractContextManager[object] | None] = Hook()
"""Functions that return the block in which reads show what a preview token opens. None for a token of another kind,
and for one that is unknown, expired or revoked."""
RATE_OF_TOKENS: Final = "delivery"
"""Name of the rate limit of delivery tokens."""
# A token has 48 characters. Longer values are refused without a query.
_MAX_TOKEN_LENGTH: Final = 200
_TOKEN_QUERY: Final = CompiledQuery(
    lambda secret_hash: DeliveryToken.objects.filter(
        hash=secret_hash, revoked_at__isnull=True
    ).values("id", "rate", "expires_at", "last_used_at")
)


@dataclass(frozen=True, slots=True)
class DeliveryCredential:
    """A valid delivery token. An empty `rate` is that of the setting."""

    token_id: str
    rate: str

    def count(self) -> HitCount:
        """Count a call of the token and return the count."""
        return HitCount(RATE_OF_TOKENS, self.token_id, rate=self.rate)


def find_credential(request: HttpRequest) -> DeliveryCredential | None:
    """Return the delivery token of a public read, or None without one. One query, none without a token.

    Other credentials mean nothing to the delivery API and are ignored. Raises `InvalidToken` for a delivery token
    that is unknown, expired or revoked, and for a token of the scheme `Preview`, which `open_preview` handles.
    """
    scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    secret = secret.strip()
    if scheme.lower() == _PREVIEW and request.path.startswith(_PATH):
        # A frontend that asks for drafts must not take live content for them.
        raise InvalidToken
    is_delivery_token = scheme.lower() == "bearer" and secret.startswith(DELIVERY_TOKEN_PREFIX)
    if not is_delivery_token:
        return None
    rows = _TOKEN_QUERY.rows(hash_of(secret)) if len(secret) <= _MAX_TOKEN_LENGTH else []
    if not rows:
        raise InvalidToken
    row = rows[0]
    if row["expires_at"] is not None and row["expires_at"] <= timezone.now():
        raise InvalidToken
    note_use(row["id"], row["last_used_at"])
    return DeliveryCredential(str(row["id"]), row["rate"])


def open_preview(request: HttpRequest) -> AbstractContextManager[object] | None:
    """Return the block in which to answer a request with a preview token, or None without one.

    No query without a token. Raises `InvalidToken` for a token that does not work.
    """
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != _PREVIEW:
        return None
    opened = (open_token(token.strip()) for open_token in preview_tokens)
    found = next((block for block in opened if block is not None), None)
    if found is None:
        raise InvalidToken
    return found


class DeliveryAuthentication(BaseAuthentication):
    """Accepts delivery tokens at public reads that are not views of the delivery API. The caller stays anonymous."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, DeliveryCredential] | None:
        credential = find_credential(django_request(request))
        return None if credential is None else (AnonymousUser(), credential)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class DeliveryThrottle(WindowThrottle):
    """Counts a call of a delivery token against the rate of the token, and any other as usual."""

    def count_of(self, request: Request, view: object, address: str) -> HitCount:
        if isinstance(request.auth, DeliveryCredential):
            return request.auth.count()
        return super().count_of(request, view, address)
