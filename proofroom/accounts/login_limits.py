"""Ten tries to log in a minute, per address and per account, through whichever door."""

from __future__ import annotations

import hashlib
from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from proofroom.core.api.throttles import WindowThrottle
from proofroom.core.caching.rate_limits import (
    HitCount,
    client_address,
    is_allowed_freely,
    rate_limit_key,
)


def count_login_try(request: HttpRequest, email: str) -> HitCount | None:
    """Count a try. The count that is over, where one is: the eleventh is refused even if right."""
    address = client_address(request)
    counts = [count_for_account(email)]
    if not is_allowed_freely(address):
        counts.append(count_from_address(address))
    return next((count for count in counts if count.is_over), None)


def count_for_account(email: str) -> HitCount:
    """Count a try for an account, whether there is one or not."""
    account = hashlib.sha256(email.strip().lower().encode("utf-8", "replace")).hexdigest()[:32]
    return HitCount("login", f"account:{account}")


def count_from_address(address: str) -> HitCount:
    """Count a try that comes from an address."""
    return HitCount("login", f"address:{rate_limit_key(address)}")


def has_too_many_tries(request: HttpRequest) -> bool:
    """Count a try from the caller's address, and answer whether it was one too many."""
    address = client_address(request)
    return not is_allowed_freely(address) and count_from_address(address).is_over


class LoginThrottle(WindowThrottle):
    """Counts calls of the login, those that cannot be read too, by a limit of their own: whoever used up what an
    anonymous caller has can still log in."""

    def count_of(self, request: Request, view: Any, address: str) -> HitCount:
        return count_from_address(address)
