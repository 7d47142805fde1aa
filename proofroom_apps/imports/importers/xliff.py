"""Imports translations from an XLIFF 2 file into Review."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.translations.xliff.imports import FileReport, UnitOutcome, import_xliff
from content.translations.xliff.reader import MAX_BYTES
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom_apps.imports.registry import Importer, Output


class XliffImporter(Importer):
    name = "xliff"
    label = gettext_lazy("Translations (XLIFF 2)")
    description = gettext_lazy(
        "An XLIFF 2 file that `export_xliff` wrote and translators filled in. Translations are "
        "staged in Review."
    )

    has_preview = True

    def run_command(
        self, *, path: Path, actor: Actor, options: Mapping[str, Any], out: Output, err: Output
    ) -> None:
        if not path.is_file():
            raise RuleViolation(_("%(path)s is not a file.") % {"path": path})
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        reports = import_xliff(content=content, actor=actor, is_dry_run=options["dry_run"])
        for report in reports:
            _tell(report, out, err)
        if options["dry_run"]:
            out.write("Dry run; nothing was stored.")
        if all(report.problem for report in reports):
            raise RuleViolation(_("No translations could be imported. See the entries above."))


def _tell(report: FileReport, out: Output, err: Output) -> None:
    title = report.title or report.post_id
    if report.problem:
        err.write(f"{title}: {report.problem}")
        return
    counts = {name: report.count(name) for name in get_args(UnitOutcome)}
    listed = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    new = " (new draft)" if report.is_new else ""
    out.write(f"{title}{new}: {listed or 'nothing'}")
    for unit in report.units:
        if unit.message:
            (err if unit.outcome == "failed" else out).write(
                f"  {unit.outcome:12} {unit.label}: {unit.message}"
            )
