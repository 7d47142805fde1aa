"""The command for requests of people about their data."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management import BaseCommand, CommandError

from proofroom.accounts.queries import find_operator
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.errors import CmsError
from proofroom.core.privacy.declarations import retentions
from proofroom.core.privacy.kinds import Erasure
from proofroom_apps.privacy.models import PersonalDataRequest, RequestAction
from proofroom_apps.privacy.presenters import NOT_SEARCHED, results_of
from proofroom_apps.privacy.services.export_file import open_export
from proofroom_apps.privacy.services.requests import finish_request, start_request

_NEW_FILE: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY
"""No file of someone else, who could read it, and no link to another file."""


class Command(BaseCommand):
    help = (
        "Find, export or erase what the site holds about a person, or show how long data is kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        find = actions.add_parser("find", help="Count what is stored about a person.")
        export = actions.add_parser("export", help="Write what is stored about a person to a file.")
        erase = actions.add_parser("erase", help="Erase what is stored about a person.")
        for action in (find, export, erase):
            action.add_argument("email")
            action.add_argument("--as", dest="by", help="Who asks; else the first admin.")
            action.add_argument("--json", action="store_true", help="Answer as JSON.")
        export.add_argument("file", help="The ZIP archive to write; - for standard output.")
        erase.add_argument("--yes", action="store_true", help="Erase without asking.")
        erase.add_argument(
            "--dry-run", action="store_true", help="Only show what would be erased and what stays."
        )
        actions.add_parser("retention", help="Show how long each kind of data is kept.")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        if action == "retention":
            for retention in retentions():
                variable = retention.setting or "fixed"
                self.stdout.write(f"{retention.label}: {retention.duration} ({variable})")
            return
        try:
            actor = find_operator(options["by"])
            if action == "erase":
                self._erase(actor, options)
            elif action == "export":
                job = self._run(RequestAction.EXPORT, actor, options)
                self._write(job, actor, options["file"])
                if options["file"] != "-":
                    self._show(job, options)
            else:
                self._show(self._run(RequestAction.SEARCH, actor, options), options)
        except CmsError as error:
            raise CommandError(error.message) from None

    def _run(
        self, action: RequestAction, actor: Actor, options: dict[str, Any]
    ) -> PersonalDataRequest:
        email = options["email"]
        started = start_request(email=email, action=action, actor=actor, confirm=email)
        job = finish_request(started)
        if job.state != JobState.DONE:
            raise CommandError(job.why or "The request was cancelled.")
        return job

    def _erase(self, actor: Actor, options: dict[str, Any]) -> None:
        if options["dry_run"] or not options["yes"]:
            found = self._run(RequestAction.SEARCH, actor, options)
            self._show(found, options)
            if options["dry_run"]:
                return
            if not any(result.found for result in results_of(found)):
                self.stderr.write("Nothing was erased: nothing was found.")
                return
            try:
                answer = input(_question(found, options["email"]))
            except EOFError:
                raise CommandError("Nothing was erased: nobody can confirm. Use --yes.") from None
            if answer.strip().lower() != options["email"].strip().lower():
                raise CommandError("Nothing was erased: the answer was not the address.")
        self._show(self._run(RequestAction.ERASE, actor, options), options)

    def _write(self, job: PersonalDataRequest, actor: Actor, name: str) -> None:
        if name != "-" and not Path(name).parent.is_dir():
            raise CommandError(f"There is no folder {Path(name).parent}.")
        with open_export(job, actor) as source:
            if name == "-":
                shutil.copyfileobj(source, sys.stdout.buffer)
                return
            try:
                # Only for the operator: the file is all about one person.
                file = os.open(name, _NEW_FILE, 0o600)
            except OSError as error:
                raise CommandError(f"Cannot write {name}: {error.strerror}.") from None
            with os.fdopen(file, "wb") as target:
                shutil.copyfileobj(source, target)
        # Not on standard output, which --json uses.
        self.stderr.write(f"Written to {name}")

    def _show(self, job: PersonalDataRequest, options: dict[str, Any]) -> None:
        results = results_of(job)
        if options["json"]:
            data = {
                "state": job.state,
                "kinds": [
                    {
                        "kind": result.kind,
                        "label": result.label,
                        "found": result.found,
                        "erasure": result.erasure,
                        "erased": result.erased,
                        "reason": result.reason,
                    }
                    for result in results
                ],
                "copies": job.copies,
            }
            self.stdout.write(json.dumps(data, indent=2, ensure_ascii=False))
            return
        if not results:
            self.stdout.write("Nothing found.")
        for result in results:
            done = f", {result.erased} changed" if result.erased is not None else ""
            self.stdout.write(f"{result.label}: {result.found} ({result.erasure_label}{done})")
            if result.reason:
                self.stdout.write(f"    {result.reason}")
        if job.action != RequestAction.ERASE:
            self.stdout.write(str(NOT_SEARCHED))
        for sentence in job.copies:
            self.stdout.write(f"- {sentence}")


def _question(found: PersonalDataRequest, email: str) -> str:
    """Return the question before an erasure. It names what goes and what stays."""
    results = results_of(found)
    goes = [result for result in results if result.erasure != Erasure.KEPT]
    stays = [result for result in results if result.erasure == Erasure.KEPT]
    lines = ["", f"This erases what the site holds about {email}. It cannot be undone:"]
    lines += [
        f"  - {result.label}: {result.found} ({result.erasure_label.lower()})" for result in goes
    ]
    if stays:
        lines += ["This stays:", *(f"  - {result.label}: {result.found}" for result in stays)]
    return "\n".join([*lines, f"Type {email} to confirm: "])
