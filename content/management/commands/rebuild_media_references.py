"""`manage.py rebuild_media_references`."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from content.store.media_usage import rebuild_references


class Command(BaseCommand):
    help = "Rebuild the index of where files are used. Run it after rows were written directly to the database."

    def handle(self, *args: Any, **options: Any) -> None:
        count = rebuild_references()
        self.stdout.write(f"Found {count} use{'' if count == 1 else 's'} of files.")
