"""The command that exports texts for translators as XLIFF 2."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from content.archive.selection import find_posts_named
from content.models import Post
from content.translations.xliff.exports import export_xliff
from proofroom.accounts.queries import find_operator
from proofroom.core.errors import CmsError


class Command(BaseCommand):
    help = (
        "Export the texts of posts as XLIFF 2.0, for translators. `import xliff` stages their "
        "translations in Review."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="The file to write; - for standard output.")
        parser.add_argument("--to", required=True, metavar="LOCALE", help="The target language.")
        parser.add_argument(
            "--post", nargs="+", required=True, metavar="POST", help="Ids, slugs or addresses."
        )
        parser.add_argument(
            "--all", action="store_true", help="Also texts whose translation is up to date."
        )
        parser.add_argument("--as", dest="email", help="Who exports; else the first admin.")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        try:
            ids: dict[str, None] = {}
            for name in options["post"]:
                found = find_posts_named(name)
                originals = Post.objects.filter(pk__in=found).exclude(locale=options["to"])
                ids.update((str(pk), None) for pk in originals.values_list("pk", flat=True))
            export = export_xliff(
                post_ids=list(ids),
                locale=options["to"],
                actor=find_operator(options["email"]),
                has_all=options["all"],
            )
        except CmsError as error:
            raise CommandError(error.message) from None
        if file == "-":
            sys.stdout.buffer.write(export.content)
        else:
            Path(file).write_bytes(export.content)
        for line in export.skipped:
            self.stderr.write(line)
        self.stderr.write(f"Exported: {export.posts} posts.")
