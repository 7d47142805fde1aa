"""Rate limit for logins: ten attempts a minute, per address and per account, in the admin and the API together."""

from __future__ import annotations

import hashlib
from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from proofroom.core.api.throttles import WindowThrottle
from proofroom.core.caching.rate_limits import (
    HitCount,
    client_address,
    is_allow_listed,
    rate_limit_key,
)


def count_login_try(request: HttpRequest, email: str) -> HitCount | None:
    """Count an attempt.

    Return the exceeded count, or None. The eleventh attempt is refused even with the right password.
    """
    # Creating a `HitCount` counts the attempt. Both are created before either is checked, so both always count.
    address = client_address(request)
    counts = [count_for_account(email)]
    if not is_allow_listed(address):
        counts.append(count_from_address(address))
    return next((count for count in counts if count.is_over), None)


def count_for_account(email: str) -> HitCount:
    """Count an attempt for an account, existing or not."""
    # Hashed, so that the counter's key has a fixed length and contains no address.
    account = hashlib.sha256(email.strip().lower().encode("utf-8", "replace")).hexdigest()[:32]
    return HitCount("login", f"account:{account}")


def count_from_address(address: str) -> HitCount:
    """Count an attempt from an address."""
    return HitCount("login", f"address:{rate_limit_key(address)}")


def has_too_many_tries(request: HttpRequest) -> bool:
    """Count an attempt from the caller's address. Return True if the limit is exceeded."""
    address = client_address(request)
    return not is_allow_listed(address) and count_from_address(address).is_over


class LoginThrottle(WindowThrottle):
    """Throttle for the login endpoint, with its own limit. It counts unreadable bodies too."""

    # A separate count: a client that used up the limit for anonymous requests can still log in.
    def count_of(self, request: Request, view: Any, address: str) -> HitCount:
        return count_from_address(address)
