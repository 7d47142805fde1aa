"""Recomputes the figures of analytics from the stored views and clicks."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from analytics.rollups.aggregate import add_up, rebuild_rollups
from analytics.rollups.merge_batches import merge_batches
from analytics.rollups.merge_rare import merge_rare_values


class Command(BaseCommand):
    help = (
        "Make the figures of analytics anew from the views and clicks that are stored. Days whose events are "
        "deleted by age, in part or whole, stay as they are. On SQLite other writes wait meanwhile."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        found = rebuild_rollups()
        if found.first is None:
            self.stdout.write(
                "There are no views and clicks to count; the figures stay as they are."
            )
            return
        while add_up():
            pass
        merge_rare_values()
        merge_batches()
        self.stdout.write(
            f"Counted {found.events:,} views and clicks anew, from {found.first} on. "
            "Figures of earlier days stay as they were."
        )
