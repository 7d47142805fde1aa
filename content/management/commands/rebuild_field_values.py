"""`manage.py rebuild_field_values`."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from content.store.field_values import rebuild_field_values


class Command(BaseCommand):
    help = (
        "Rebuild the index of filterable custom fields. Run it after rows were written directly "
        "to the database."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        count = rebuild_field_values()
        self.stdout.write(f"Read the custom fields of {count} post{'' if count == 1 else 's'}.")
