"""`manage.py generate_types typescript`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from content.api.delivery.schema import delivery_document
from proofroom.core.api.schema_views import document
from proofroom.core.api.typescript import typescript

APIS = ("delivery", "management")


class Command(BaseCommand):
    help = "Write types of the API from the definitions of this site, without a server and without a database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("language", choices=["typescript"])
        parser.add_argument(
            "--api",
            choices=APIS,
            default="delivery",
            help="delivery: what frontends read. management: the whole API.",
        )
        parser.add_argument("--output", help="A file; standard output without it.")

    def handle(self, *args: Any, **options: Any) -> None:
        text = delivery_types() if options["api"] == "delivery" else typescript(document())
        if options["output"] is None:
            self.stdout.write(text, ending="")
            return
        path = Path(options["output"])
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"Cannot write {path}: {error.strerror}.") from error
        self.stdout.write(f"Wrote {path}.")


def delivery_types() -> str:
    """Return the types of the delivery API, with `Site`, the type parameter of `@proofroom/client`."""
    made = delivery_document()
    schemas = made["components"]["schemas"]

    def by_type(name: str) -> str:
        refs = schemas[name]["discriminator"]["mapping"].items()
        lines = (f'    "{type_}": {ref.rpartition("/")[2]};' for type_, ref in refs)
        return "\n".join(["{", *lines, "  }"])

    locales = " | ".join(f'"{locale}"' for locale in settings.CMS_ENV.locales)
    site = f"""\
/** The site: the type parameter of `createClient`. */
export interface Site {{
  locales: {locales};
  posts: {by_type("Post")};
  listed: {by_type("ListedPost")};
  included: Included;
  redirect: ResolvedRedirect;
  list: ResolvedList;
  module: Module;
  operations: Operations;
}}
"""
    return f"{typescript(made)}\n{site}"
