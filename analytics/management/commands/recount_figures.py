"""Recomputes the figures of analytics from the stored views and clicks."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from analytics.rollups.aggregate import add_up, rebuild_rollups
from analytics.rollups.merge_batches import merge_batches
from analytics.rollups.merge_rare import merge_rare_values


class Command(BaseCommand):
    help = (
        "Rebuild the analytics figures from the stored views and clicks. Days whose events have been deleted by "
        "age, partly or completely, are not changed. On SQLite, other writes wait until the command ends."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        found = rebuild_rollups()
        if found.first is None:
            self.stdout.write("There are no views and clicks to count. The figures are unchanged.")
            return
        while add_up():
            pass
        merge_rare_values()
        merge_batches()
        self.stdout.write(
            f"Recounted {found.events:,} views and clicks since {found.first}. "
            "The figures of earlier days are unchanged."
        )
