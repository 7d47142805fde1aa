"""`manage.py rebuild_inbox`."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from content.inbox.rows import rebuild


class Command(BaseCommand):
    help = "List what waits in every draft anew: after rows came in past the services."

    def handle(self, *args: Any, **options: Any) -> None:
        count = rebuild()
        self.stdout.write(f"{count} change{'' if count == 1 else 's'} wait.")
