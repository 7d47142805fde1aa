"""`manage.py write_reference`: writes the tables of `docs/reference/` that the code defines."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mcp_bridge.reference_pages import TABLES, render_page


class Command(BaseCommand):
    help = "Write the tables of settings, error codes, permissions and events into docs/reference/."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--folder", default="docs/reference", help="folder of the pages (default: %(default)s)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for name in TABLES:
            path = Path(options["folder"], name)
            try:
                page = path.read_text(encoding="utf-8")
                path.write_text(render_page(name, page), encoding="utf-8")
            except OSError as error:
                raise CommandError(f"Cannot write {path}: {error.strerror}") from error
            except ValueError as error:
                raise CommandError(f"Cannot write {path}: {error}") from error
            self.stderr.write(f"Wrote {path}")
