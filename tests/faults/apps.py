"""Shorter intervals, so that a test can wait for the recovery after a killed process."""

from __future__ import annotations

import os
from datetime import timedelta

from django.apps import AppConfig


class FaultsConfig(AppConfig):
    name = "tests.faults"
    label = "faults"

    def ready(self) -> None:
        from proofroom.webhooks import delivery, delivery_queue
        from tests.faults import dying

        delivery_queue.CLAIM_DURATION = timedelta(seconds=4)  # type: ignore[misc]
        delivery_queue.LOCK_SECONDS = 4  # type: ignore[misc]
        delivery.RENEW_SECONDS = 1.0  # type: ignore[misc]
        if os.environ.get("RUNS_DIE"):
            dying.connect()
