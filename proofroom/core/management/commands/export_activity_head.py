"""Writes a signed head of the activity log, and the chain that it is of."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from django.core.management import BaseCommand, CommandError

from proofroom.core import outbox
from proofroom.core.activity.chain import seal_events, verify
from proofroom.core.activity.signed_head import (
    chain_lines,
    create_key,
    public_key_of,
    read_key,
    sign_head,
)
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.json import JsonObject

_NEW_FILE: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY
"""No file of someone else, who could read it, and no earlier head, which must stay."""


class Command(BaseCommand):
    help = (
        "Seal pending entries, check the activity log, and write its head, signed with a key that only you have. "
        "docs/how-to/check_activity_log.py checks it elsewhere, without this program. Refuses to sign a changed log."
    )

    requires_system_checks = ()
    """As for verify_activity: an unrelated problem must not look like a changed log."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("head", nargs="?", type=Path, help="The new JSON file of the head.")
        parser.add_argument("--key", type=Path, required=True, help="The file of the private key.")
        parser.add_argument(
            "--new-key", action="store_true", help="Create the key, and print its public key."
        )
        parser.add_argument(
            "--log", type=Path, help="Also write the log up to the head, as a new JSON Lines file."
        )

    def handle(self, *args: Any, head: Path | None, key: Path, **options: Any) -> None:
        if options["new_key"]:
            try:
                made = create_key(key)
            except OSError as error:
                raise CommandError(f"Cannot write {key}: {error.strerror}.") from None
            self.stderr.write(f"Written to {key}. Give this public key to the auditor:")
            self.stdout.write(public_key_of(made))
        if head is None:
            if not options["new_key"]:
                raise CommandError("Name the file of the head.")
            return
        try:
            signing_key = read_key(key)
        except (OSError, ValueError) as error:
            raise CommandError(f"Cannot read the key {key}: {error}.") from None
        log: Path | None = options["log"]
        if log is not None:
            actor = Actor(user=SYSTEM, via="command")
            payload: JsonObject = {"format": "chain", "chosen": {}}
            outbox.record("activity.exported", actor=actor, payload=payload)
        seal_events()
        found = verify()
        if not found.is_whole:
            raise CommandError(
                "The log was changed, so its head is not signed: run verify_activity."
            )
        if not found.links:
            raise CommandError("The log has no links yet.")
        signed = sign_head(found, signing_key)
        if log is not None:
            self._write(log, chain_lines(int(found.head.partition(":")[0])))
        self._write(head, [json.dumps(signed, indent=2, sort_keys=True) + "\n"])

    def _write(self, name: Path, lines: Iterable[str]) -> None:
        try:
            file = os.open(name, _NEW_FILE, 0o600)
        except OSError as error:
            raise CommandError(f"Cannot write {name}: {error.strerror}.") from None
        with os.fdopen(file, "w", encoding="utf-8") as target:
            target.writelines(lines)
        self.stderr.write(f"Written to {name}")
