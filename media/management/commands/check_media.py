"""`manage.py check_media`: compare the rows of media with the storage, and report missing and unknown files."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.core.management import BaseCommand, CommandError, CommandParser

from media.integrity import IntegrityReport, check


class Command(BaseCommand):
    help = (
        "Check that every file in use is in the storage, and that every stored file has its row. Changes nothing. "
        "Exit code 1 if anything is missing or unknown."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--id", metavar="UUID", help="Check the files of one asset only.")
        parser.add_argument(
            "--missing",
            action="store_true",
            help="Ignore files without a row, which are normal after a restore.",
        )
        parser.add_argument("--json", action="store_true", help="Print JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            asset_id = UUID(options["id"]) if options["id"] else None
        except ValueError:
            raise CommandError(f"{options['id']!r} is not the ID of a file.") from None
        report = check(asset_id)
        if options["missing"]:
            report.orphaned, report.orphaned_count = [], 0
        if options["json"]:
            self.stdout.write(json.dumps({**asdict(report), "isWhole": report.is_whole}, indent=2))
        else:
            self._print_report(report)
        if not report.is_whole:
            sys.exit(1)

    def _print_report(self, report: IntegrityReport) -> None:
        self.stdout.write(f"checked:  {report.checked}")
        for asset_id, name in report.missing:
            self.stdout.write(self.style.ERROR(f"missing:  {name} (of {asset_id})"))
        for name in report.orphaned:
            self.stdout.write(self.style.WARNING(f"orphaned: {name}"))
        more = report.missing_count + report.orphaned_count
        more -= len(report.missing) + len(report.orphaned)
        if more:
            self.stdout.write(f"and {more} more")
        if report.is_whole:
            self.stdout.write(self.style.SUCCESS("No problems found."))
