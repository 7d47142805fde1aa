"""Imports content from a file or a folder."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management import BaseCommand, CommandError

from proofroom.accounts.queries import find_operator
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom_apps.imports.registry import Importer, IncompleteImport, importers

INCOMPLETE: Final = 3
"""Exit status if some items failed. 1 means that nothing was imported, and 2 that the arguments were wrong."""


class Command(BaseCommand):
    help = (
        "Import content: posts, terms, files and menus, from another system or from files. Shows "
        "first what will happen, and asks."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        sources = parser.add_subparsers(dest="source", required=True, metavar="SOURCE")
        for name, importer in importers.all().items():
            source = sources.add_parser(
                name, help=str(importer.label), description=str(importer.description)
            )
            source.add_argument("path", type=Path, help="The file or folder.")
            source.add_argument(
                "--as",
                dest="email",
                help="Email of the account that imports. Default: the first admin.",
            )
            source.add_argument(
                "--dry-run",
                action="store_true",
                help="Show what would happen, without storing anything.",
            )
            source.add_argument(
                "--yes",
                action="store_true",
                help="Import without a preview and a question, as without a terminal.",
            )
            source.add_argument(
                "--json", action="store_true", help="Print the report as JSON. Never asks."
            )
            importer().add_arguments(source)

    def handle(
        self, *args: Any, source: str, path: Path, email: str | None, **options: Any
    ) -> None:
        importer = importers.all()[source]()
        try:
            actor = find_operator(email)
            if self._must_ask(importer, options) and not self._is_confirmed(
                importer, path, actor, options
            ):
                self.stdout.write("Nothing was imported.")
                return
            importer.run_command(
                path=path, actor=actor, options=options, out=self.stdout, err=self.stderr
            )
        except IncompleteImport as error:
            raise CommandError(error.message, returncode=INCOMPLETE) from None
        except CmsError as error:
            raise CommandError(error.message) from None

    def _must_ask(self, importer: Importer, options: dict[str, Any]) -> bool:
        is_decided = options["yes"] or options["json"] or options["dry_run"]
        return importer.has_preview and not is_decided and sys.stdin.isatty()

    def _is_confirmed(
        self, importer: Importer, path: Path, actor: Actor, options: dict[str, Any]
    ) -> bool:
        """Show what the import would do, and ask."""
        importer.run_command(
            path=path,
            actor=actor,
            options={**options, "dry_run": True, "preview": True},
            out=self.stdout,
            err=self.stderr,
        )
        return input("Import this? [y/N] ").strip().lower() in ("y", "yes")
