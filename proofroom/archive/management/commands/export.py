"""The command that exports content as an archive."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from proofroom.accounts.queries import find_operator
from proofroom.archive.export import Choice
from proofroom.archive.registry import archive_kinds
from proofroom.archive.services import Exported, export_archive
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError


class Command(BaseCommand):
    help = (
        "Export all content, or a selection, as one archive (ZIP) for `import archive`. "
        "It never contains accounts, tokens, webhooks or submissions."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = ", ".join(kind.name for kind in archive_kinds if kind.name != "revisions")
        parser.add_argument("file", help="The archive to write, or - for standard output.")
        parser.add_argument(
            "--only", nargs="+", metavar="KIND", help=f"Export only these kinds: {kinds}."
        )
        parser.add_argument(
            "--post",
            nargs="+",
            metavar="POST",
            help="Export only these posts: IDs, slugs or URL paths.",
        )
        parser.add_argument(
            "--section",
            nargs="+",
            metavar="POST",
            help="Export only these posts and the pages below them.",
        )
        parser.add_argument(
            "--type", nargs="+", metavar="TYPE", help="Export only posts of these types."
        )
        parser.add_argument("--locale", nargs="+", help="Export only posts in these languages.")
        parser.add_argument(
            "--since",
            type=_moment,
            metavar="TIME",
            help="Export only posts changed since this date or time (ISO 8601).",
        )
        parser.add_argument(
            "--published",
            action="store_true",
            help="Export only published posts, without their staged changes.",
        )
        parser.add_argument(
            "--revisions", action="store_true", help="Also export the revisions of posts."
        )
        parser.add_argument(
            "--as",
            dest="email",
            help="Email of the account that exports. Default: the first admin.",
        )

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        known = {kind.name for kind in archive_kinds}
        unknown = sorted(set(options["only"] or ()) - known)
        if unknown:
            raise CommandError(
                f"There is no kind {unknown[0]!r}. Known: {', '.join(sorted(known))}."
            )
        choice = Choice(
            kinds=frozenset(options["only"] or ()),
            posts=frozenset(options["post"] or ()),
            sections=frozenset(options["section"] or ()),
            post_types=frozenset(options["type"] or ()),
            locales=frozenset(options["locale"] or ()),
            changed_since=options["since"],
            published_only=options["published"],
            revisions=options["revisions"],
        )
        try:
            actor = find_operator(options["email"])
            exported = (
                _to_standard_output(actor, choice)
                if file == "-"
                else _to_file(Path(file), actor, choice)
            )
        except CmsError as error:
            raise CommandError(error.message) from None
        for note in exported.notes:
            self.stderr.write(note)
        counts = [
            f"{summary.rows} {name.removesuffix('.jsonl')}"
            for name, summary in exported.manifest.files.items()
            if summary.rows
        ]
        self.stderr.write(f"Exported: {', '.join(counts) or 'nothing'}.")


def _moment(text: str) -> datetime:
    """Return the time, or the start of the day. Without a zone it is in the site's time zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a date such as 2026-05-03.") from None
    return moment if moment.tzinfo is not None else timezone.make_aware(moment)


def _to_file(path: Path, actor: Actor, choice: Choice) -> Exported:
    """Write the archive to `path` atomically: an error leaves no partial file."""
    if not path.parent.is_dir():
        raise CommandError(f"There is no folder {path.parent}.")
    # A temporary file in the same folder, because `replace` is atomic only within a file system.
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as target:
        try:
            exported = export_archive(target=target, actor=actor, choice=choice)
            target.flush()
            # Otherwise a power failure after the rename could leave an empty file.
            os.fsync(target.fileno())
            Path(target.name).replace(path)
        # Also for KeyboardInterrupt, which an operator uses to stop a long export.
        except BaseException:
            Path(target.name).unlink(missing_ok=True)
            raise
    return exported


# An archive needs a seekable file, which a pipe is not.
def _to_standard_output(actor: Actor, choice: Choice) -> Exported:
    with TemporaryFile() as target:
        exported = export_archive(target=target, actor=actor, choice=choice)
        target.seek(0)
        shutil.copyfileobj(target, sys.stdout.buffer)
    return exported
