"""Updates the admin's message catalogue with the current texts and compiles it."""

from __future__ import annotations

from argparse import ArgumentParser
from subprocess import CalledProcessError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from proofroom.core.i18n.catalogue import catalogue_of, compiled, current, untranslated


class Command(BaseCommand):
    help = (
        "Puts every word of the admin into locale/<language>/LC_MESSAGES/django.po, takes out what is gone, and "
        "compiles it. Needs GNU gettext."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--language", default="de")

    def handle(self, *args: Any, **options: Any) -> None:
        catalogue = catalogue_of(options["language"])
        if not catalogue.exists():
            raise CommandError(
                f"{catalogue} is missing: this command updates the product's own catalogue. "
                "A project keeps its words with makemessages and new_locale."
            )
        try:
            catalogue.write_text(current(options["language"]))
            catalogue.with_suffix(".mo").write_bytes(compiled(catalogue))
        except CalledProcessError as error:
            raise CommandError(error.stderr.decode()) from None
        except FileNotFoundError as error:
            raise CommandError(str(error)) from None
        waiting = untranslated(catalogue).count("\nmsgid ") - 1
        self.stdout.write(f"{max(waiting, 0)} texts have no translation yet.")
