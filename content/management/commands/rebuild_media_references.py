"""`manage.py rebuild_media_references`."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from content.store.media_usage import rebuild_references


class Command(BaseCommand):
    help = "Find every place where a file is used anew: after rows came in past the services."

    def handle(self, *args: Any, **options: Any) -> None:
        count = rebuild_references()
        self.stdout.write(f"Files are used in {count} place{'' if count == 1 else 's'}.")
