"""`manage.py rebuild_links`."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from content.store.content_links import rebuild_links


class Command(BaseCommand):
    help = "Rebuild the index of links. Run it after rows were written directly to the database."

    def handle(self, *args: Any, **options: Any) -> None:
        count = rebuild_links()
        self.stdout.write(f"Read the links of {count} post{'' if count == 1 else 's'}.")
