"""Imports content from a file or a folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from proofroom.accounts.queries import find_operator
from proofroom.core.errors import CmsError
from proofroom_apps.imports.registry import importers


class Command(BaseCommand):
    help = "Import content: posts, terms, files and menus, from another system or from files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        sources = parser.add_subparsers(dest="source", required=True, metavar="SOURCE")
        for name, importer in importers.all().items():
            source = sources.add_parser(
                name, help=str(importer.label), description=str(importer.description)
            )
            source.add_argument("path", type=Path, help="The file or folder.")
            source.add_argument(
                "--as", dest="email", help="Whose posts they are; else the first admin's."
            )
            source.add_argument(
                "--dry-run", action="store_true", help="Report what would happen; store nothing."
            )
            importer().add_arguments(source)

    def handle(
        self, *args: Any, source: str, path: Path, email: str | None, **options: Any
    ) -> None:
        try:
            importers.all()[source]().run_command(
                path=path,
                actor=find_operator(email),
                options=options,
                out=self.stdout,
                err=self.stderr,
            )
        except CmsError as error:
            raise CommandError(error.message) from None
