"""Ten tries to log in a minute, per address and per account, through whichever door."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest

from core.api.throttles import Count, client_address, is_allowed_freely


def count_login_try(request: HttpRequest, email: str) -> Count | None:
    """Count a try. The count that is over, where one is: the eleventh is refused even if right."""
    address = client_address(request)
    account = hashlib.sha256(email.strip().lower().encode("utf-8", "replace")).hexdigest()[:32]
    counts = [Count("login", f"account:{account}")]
    if not is_allowed_freely(address):
        counts.append(Count("login", f"address:{address}"))
    return next((count for count in counts if count.is_over), None)
