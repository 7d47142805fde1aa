"""Deprecated alias of `import markdown`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, call_command


class Command(BaseCommand):
    help = "The earlier name of: import markdown DIR."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--type", default="page", help="The post type (page).")
        parser.add_argument("--locale", default="")
        parser.add_argument(
            "--as", dest="email", help="Whose posts they are; else the first admin's."
        )

    def handle(
        self, *args: Any, folder: Path, type: str, locale: str, email: str | None, **options: Any
    ) -> None:
        call_command(
            "import",
            "markdown",
            str(folder),
            type=type,
            locale=locale,
            email=email,
            stdout=self.stdout,
            stderr=self.stderr,
        )
