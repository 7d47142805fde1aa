"""Installs the database role of agents and AI clients."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import ProgrammingError, connection

from proofroom.core.lane import ROLE, is_lane
from proofroom.core.lane.installation import all_statements, install, set_password


class Command(BaseCommand):
    help = (
        "Create the database role of agents and AI clients with its rights, or correct them. Run it after "
        "migrate, as the role that owns the tables. It changes nothing if all is there."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--print-sql",
            action="store_true",
            help="print the statements of a first installation instead of running any",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.vendor != "postgresql":
            raise CommandError("Only PostgreSQL has roles. Set DATABASE_URL to a PostgreSQL.")
        if is_lane():
            raise CommandError(
                "DATABASE_URL names the role of agents. Run this as the role that owns the tables."
            )
        if options["print_sql"]:
            self.stdout.write("".join(f"{statement};\n" for statement in all_statements()))
            return
        try:
            left = install()
        except ProgrammingError as error:
            raise CommandError(
                f"{error}".strip() + "\nCreate the role as a superuser, then run this again: "
                f"CREATE ROLE {ROLE} LOGIN NOINHERIT PASSWORD '…'"
            ) from error
        for difference in left:
            self._warn(f"{difference.found} {difference.advice}")
        self._set_password()
        self.stdout.write(f"The role {ROLE} has its rights.")

    def _set_password(self) -> None:
        """Set the password of `LANE_DATABASE_URL`, if there is one."""
        password = unquote(urlsplit(settings.CMS_ENV.lane_database_url or "").password or "")
        if not password:
            return
        try:
            set_password(password)
        except ProgrammingError:
            self._warn(
                f"The password of {ROLE} stays as it is. Only a superuser, or the role that created it, "
                "may set it."
            )

    def _warn(self, text: str) -> None:
        self.stderr.write(self.style.WARNING(text))
