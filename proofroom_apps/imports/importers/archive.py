"""Imports an archive that `manage.py export` wrote on this or another installation."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, ConfigDict, ValidationError

from proofroom.archive.imports import Entry, Mode, Outcome
from proofroom.archive.services import import_archive, require_mode
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.json import Json, JsonObject
from proofroom_apps.imports.archive_runs import execute_archive
from proofroom_apps.imports.models import ARCHIVE, ImportRun
from proofroom_apps.imports.registry import Importer, Output
from proofroom_apps.imports.run_source import RunSource

_LONGEST: Final = 100
_MAX_LISTED: Final = 1_000
"""Number of entries of each list in a report as JSON."""


class ArchiveOptions(BaseModel):
    """Options for content that exists on the site already."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    mode: Mode = Mode.UPDATE


class ArchiveImporter(RunSource, Importer):
    name = ARCHIVE
    label = gettext_lazy("Proofroom archive")
    description = gettext_lazy(
        "Imports an archive created with `export`. Content "
        "that this site does not have is created. Changes to existing posts wait "
        "in Review; changes to global modules, menus and terms wait for "
        "approval; other differences are listed but not changed."
    )
    suffixes = (".zip",)
    has_preview = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument(
            "--update",
            action="store_true",
            help="Change existing content to match the archive, live.",
        )
        modes.add_argument(
            "--propose",
            action="store_true",
            help="Change nothing that visitors see: new posts are drafts, and changes wait in Review. "
            "Editors may do this too.",
        )

    def run_command(
        self, *, path: Path, actor: Actor, options: Mapping[str, Any], out: Output, err: Output
    ) -> None:
        said_before: JsonObject = {"conflicts": [], "notes": [], "differences": []}
        is_json = bool(options.get("json"))
        is_preview = bool(options.get("preview"))

        def tell(said: Entry | str) -> None:
            if is_json:
                _collect(said_before, said)
                return
            if isinstance(said, str):
                err.write(said)
                return
            for one in said.differences if not is_preview else ():
                before, after = _shorten(one.before), _shorten(one.after)
                out.write(f"{one.kind}: {one.title}: {one.path}: {before} → {after}")
            if said.conflict:
                err.write(f"{said.kind}: {said.title}: {said.conflict}")

        mode = Mode.UPDATE if options["update"] else Mode.ADD
        report = import_archive(
            source=path,
            actor=actor,
            mode=Mode.PROPOSE if options["propose"] else mode,
            dry_run=options["dry_run"],
            listener=tell,
        )
        if is_json:
            found = {"source": self.name, "dryRun": report.is_dry_run, "counts": report.to_json()}
            out.write(json.dumps({**found, **said_before}, ensure_ascii=False, indent=2))
            return
        for kind, counts in report.counts.items():
            listed = [f"{counts[one]} {one.value}" for one in Outcome if counts[one]]
            out.write(f"{kind}: {', '.join(listed)}")
        if report.is_dry_run:
            out.write("Dry run: nothing was stored.")

    def check_options(self, values: Mapping[str, Any]) -> ArchiveOptions:
        try:
            return ArchiveOptions.model_validate(values)
        except ValidationError:
            raise invalid("mode", _("Choose what happens to content that exists.")) from None

    def require_rights(self, actor: Actor, options: Mapping[str, Any]) -> None:
        require_mode(actor, Mode(options["mode"]))

    def execute(self, run: ImportRun, path: Path, actor: Actor, *, ends: float) -> None:
        execute_archive(run, path, actor, Mode(run.options["mode"]))


def _collect(found: JsonObject, said: Entry | str) -> None:
    """Add an entry of the report to the lists of its JSON, at most `_MAX_LISTED` of each."""

    def add(name: str, value: Json) -> None:
        listed = cast("list[Json]", found[name])
        if len(listed) < _MAX_LISTED:
            listed.append(value)

    if isinstance(said, str):
        add("notes", said)
        return
    if said.conflict:
        add("conflicts", {"kind": said.kind, "title": said.title, "reason": said.conflict})
    for one in said.differences:
        add(
            "differences",
            {
                "kind": one.kind,
                "title": one.title,
                "path": one.path,
                "before": _shorten(one.before),
                "after": _shorten(one.after),
            },
        )


def _shorten(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
