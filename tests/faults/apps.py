"""Shorter waits, so that what a killed process left is taken up while a test looks on."""

from __future__ import annotations

import os
from datetime import timedelta

from django.apps import AppConfig


class FaultsConfig(AppConfig):
    name = "tests.faults"
    label = "faults"

    def ready(self) -> None:
        from tests.faults import dying
        from webhooks import claims, lease, sender

        claims.CLAIM = timedelta(seconds=4)  # type: ignore[misc]
        lease.SECONDS = 4  # type: ignore[misc]
        sender._REFRESH_SECONDS = 1.0  # type: ignore[misc]
        if os.environ.get("RUNS_DIE"):
            dying.connect()
