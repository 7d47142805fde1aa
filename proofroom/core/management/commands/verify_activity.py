"""Verifies the chain of the activity log."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from proofroom.core.activity.chain import Verification, read_head, seal_events, verify


class Command(BaseCommand):
    help = (
        "Seal pending entries, then check every link of the activity log. Prints the head: store it elsewhere, and "
        "pass it with --head next time, so that deleted recent entries are found too. Exit code 1 on any problem."
    )

    requires_system_checks = ()
    """System checks are skipped: an unrelated problem, such as a broken workflow file, must not look like a
    changed log.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--head", metavar="SEQ:HASH", help="The head that an earlier check printed."
        )
        parser.add_argument("--json", action="store_true", help="Print JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            head = read_head(options["head"]) if options["head"] else None
        except ValueError as error:
            raise CommandError(str(error)) from None
        seal_events()
        found = verify(head)
        if options["json"]:
            self.stdout.write(json.dumps({**asdict(found), "isWhole": found.is_whole}, indent=2))
        else:
            self._print(found)
        if not found.is_whole:
            sys.exit(1)

    def _print(self, found: Verification) -> None:
        span = f", {found.begin} to {found.head.partition(':')[0]}" if found.links else ""
        self.stdout.write(f"links:     {found.links}{span}")
        self.stdout.write(f"forgotten: {found.forgotten}")
        self.stdout.write(f"pseudonymised: {found.pseudonymised}")
        self.stdout.write(f"head:      {found.head or 'none yet'}")
        for finding in found.findings:
            where = [f"link {finding.seq}"] if finding.seq is not None else []
            where += [f"event {finding.event_id}"] if finding.event_id is not None else []
            self.stdout.write(
                self.style.ERROR(f"{finding.code} ({', '.join(where)}): {finding.sentence}")
            )
        if found.left_out:
            self.stdout.write(f"and {found.left_out} more")
        if found.is_whole:
            self.stdout.write(self.style.SUCCESS("The log is unchanged."))
