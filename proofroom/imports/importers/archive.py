"""An archive that `manage.py export` made here or at another installation."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from django.utils.translation import gettext_lazy

from proofroom.archive.imports import Difference, Mode, Outcome, import_archive
from proofroom.core.actor import Actor
from proofroom.core.json import Json
from proofroom.imports.registry import Importer, Output

_LONGEST: Final = 100


class ArchiveImporter(Importer):
    name = "archive"
    label = gettext_lazy("Archive of Proofroom")
    description = gettext_lazy(
        "Brings in an archive that `export` made: all of it or nothing. What is not here is created as it "
        "is in the archive. Changes to posts that are here wait in Review; changes to global modules, menus "
        "and terms wait for approval; other differences are listed and nothing is changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument(
            "--update",
            action="store_true",
            help="Change what is here to what the archive says, live.",
        )
        modes.add_argument(
            "--propose",
            action="store_true",
            help="Nothing that visitors see changes: new posts are drafts, changes wait in Review.",
        )

    def run_command(
        self, *, path: Path, actor: Actor, options: Mapping[str, Any], out: Output, err: Output
    ) -> None:
        def tell(said: Difference | str) -> None:
            if isinstance(said, str):
                err.write(said)
            else:
                before, after = _shorten(said.before), _shorten(said.after)
                out.write(f"{said.kind}: {said.title}: {said.path}: {before} → {after}")

        mode = Mode.UPDATE if options["update"] else Mode.ADD
        report = import_archive(
            source=path,
            actor=actor,
            mode=Mode.PROPOSE if options["propose"] else mode,
            dry_run=options["dry_run"],
            listener=tell,
        )
        for kind, counts in report.counts.items():
            listed = [f"{counts[one]} {one.value}" for one in Outcome if counts[one]]
            out.write(f"{kind}: {', '.join(listed)}")
        if report.is_dry_run:
            out.write("Dry run: nothing was stored.")


def _shorten(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
