"""Signatures of calls: HMAC-SHA256 of the body, with the secret of the webhook or of the whole service."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
from django.utils import timezone

from proofroom.webhooks.models import Webhook

SIGNATURE: Final = "X-Hub-Signature-256"
PREVIOUS_SIGNATURE: Final = "X-Hub-Signature-256-Previous"


@dataclass(frozen=True, slots=True)
class Keys:
    """The secret that signs, and the previous one during a rotation. Empty means none."""

    current: str = field(repr=False)
    previous: str = field(default="", repr=False)


def shared_keys() -> Keys:
    """Return the keys of the whole service: AGENT_SECRET."""
    env = settings.CMS_ENV
    return Keys(env.agent_secret or "", env.agent_secret_previous or "")


def keys_of(webhook: Webhook) -> Keys:
    """Return the webhook's own secret, or the shared one. Its previous secret also signs until its time is over."""
    shared = shared_keys()
    until = webhook.previous_secret_until
    own_previous = webhook.previous_secret if until and until > timezone.now() else ""
    if webhook.secret:
        return Keys(webhook.secret, own_previous)
    return Keys(shared.current, own_previous or shared.previous)


def signature(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def signature_headers(keys: Keys, body: bytes) -> dict[str, str]:
    """Return the signature headers. Without a secret there are none, and the call is unsigned."""
    pairs = ((SIGNATURE, keys.current), (PREVIOUS_SIGNATURE, keys.previous))
    return {name: signature(secret, body) for name, secret in pairs if secret}
