"""The doctor's check for providers that have a key and no package."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.utils.translation import gettext as _

from agents_app.providers.vendors import all_vendors
from proofroom.core.diagnostics.doctor import CheckResult


def missing_packages() -> Iterator[CheckResult]:
    """Yield the configured providers whose package is not installed."""
    for name in settings.CMS_ENV.configured_providers:
        if missing := all_vendors()[name].missing_package:
            yield CheckResult(
                "fail", "AI providers", missing, _("install it, then restart all processes")
            )
