"""`manage.py rebuild_inbox`."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from content.inbox.rows import rebuild


class Command(BaseCommand):
    help = "Rebuild the index of pending changes. Run it after rows were written directly to the database."

    def handle(self, *args: Any, **options: Any) -> None:
        count = rebuild()
        self.stdout.write(f"{count} pending change{'' if count == 1 else 's'}.")
