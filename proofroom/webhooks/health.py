"""The doctor's check for weak webhook secrets."""

from __future__ import annotations

from collections.abc import Iterator

from proofroom.core.diagnostics.doctor import CheckResult
from proofroom.core.diagnostics.public_site import MIN_SECRET_LENGTH, is_weak_secret
from proofroom.webhooks.models import Webhook


def short_secrets() -> Iterator[CheckResult]:
    """Yield the active webhooks whose secret can be guessed. One query."""
    # A guessed secret lets others sign calls in the site's name.
    signed = Webhook.objects.filter(is_active=True).exclude(secret="").order_by("name")
    for name, secret in signed.values_list("name", "secret"):
        if is_weak_secret(secret):
            found = f"{name!r} signs with a short secret"
            advice = (
                f"give it {MIN_SECRET_LENGTH} random characters or more, or none for AGENT_SECRET"
            )
            yield CheckResult("warn", "webhooks", found, advice)
