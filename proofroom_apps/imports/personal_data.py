"""Personal data of imports and exports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention
from proofroom_apps.imports.models import ImportChunk
from proofroom_apps.imports.runs import KEEP_UPLOADS


def _find_files(person: Person) -> Iterable[str]:
    number = ImportChunk.objects.values("run").distinct().count()
    if number:
        yield _(
            "Files of imports and exports are stored for a few days and are not searched: %(number)s"
        ) % {"number": number}


COPIES: Final = (_find_files,)
KINDS: Final = (
    TableKind(
        "imports.runs",
        gettext_lazy("Imports and exports that this person started"),
        Table(
            "proofroom_imports.ImportRun",
            ("source", "name", "state", "created_at"),
            owners=("by",),
            names={"by_name": "by"},
        ),
        erasure=Erasure.PSEUDONYMISED,
    ),
    TableKind(
        "imports.schedules",
        gettext_lazy("Schedules of exports that this person saved last"),
        Table("proofroom_imports.ExportSchedule", ("name", "every", "created_at"), owners=("by",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy(
            "Schedules refer to the account without its name. They fail until someone else saves them."
        ),
    ),
    TableKind(
        "imports.reports",
        gettext_lazy("Reports of imports with this address"),
        Table(
            "proofroom_imports.ImportLine",
            ("place", "message"),
            texts=("place", "message", "details"),
        ),
        erasure=Erasure.MASKED,
    ),
)
WITHOUT_PERSONAL_DATA: Final = (
    # Files are deleted soon, see the retention of imports; `COPIES` names them.
    "proofroom_imports.ImportChunk",
    "proofroom_imports.ImportedObject",
)
RETENTIONS: Final = (
    Retention(
        "imports",
        gettext_lazy("Files of imports"),
        fixed_days=KEEP_UPLOADS.days,
        task_name="imports.tasks.sweep_imports",
    ),
)
