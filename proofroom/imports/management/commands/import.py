"""Imports content from a file or a folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.imports.registry import importers


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
                actor=find_actor(email),
                options=options,
                out=self.stdout,
                err=self.stderr,
            )
        except CmsError as error:
            raise CommandError(error.message) from None


def find_actor(email: str | None) -> Actor:
    """The person of that address, else the first admin. Raises `CommandError`."""
    people = User.objects.filter(is_active=True).exclude(role=Role.AI_AGENT).order_by("pk")
    found = people.filter(email=email.lower()) if email else people.filter(role=Role.ADMIN)
    person = found.first()
    if person is None:
        who = f"with the address {email}" if email else "with the role admin"
        raise CommandError(f"There is no active account {who}. Make one, or name one with --as.")
    return Actor(user=person, via="command")
