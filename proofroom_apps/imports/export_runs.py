"""Exports: written by a worker, available to administrators for a day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from tempfile import TemporaryFile
from typing import Annotated, Final

from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field

from proofroom.archive.export import PERMISSION, Choice
from proofroom.archive.services import export_archive
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.errors import NotFound, RuleViolation
from proofroom_apps.imports.models import CHUNK_BYTES, ImportChunk, ImportRun
from proofroom_apps.imports.run_watch import RunCancelled, RunWatch

MAX_BYTES: Final = 2 * 1024**3
KEEP_FILE: Final = timedelta(days=1)
Names = Annotated[list[Annotated[str, Field(max_length=2000)]], Field(max_length=500)]


class ExportOptions(BaseModel):
    """The parts of the site that an export contains, as they are stored; see `Choice`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    posts: Names = []
    sections: Names = []
    post_types: Names = []
    locales: Names = []
    changed_since: datetime | None = None
    published_only: bool = False
    revisions: bool = False

    def choice(self) -> Choice:
        return Choice(
            posts=frozenset(self.posts),
            sections=frozenset(self.sections),
            post_types=frozenset(self.post_types),
            locales=frozenset(self.locales),
            changed_since=self.changed_since,
            published_only=self.published_only,
            revisions=self.revisions,
        )


def execute_export(run: ImportRun, actor: Actor) -> Sequence[str] | None:
    """Write the archive, and store it in parts until it expires. Raises `CmsError`.

    Returns the notes of its report, or None if it was cancelled.
    """
    watch = RunWatch(run.pk)

    def progress(kind: str, number: int) -> None:
        watch.done += 1
        watch()

    with TemporaryFile() as target:
        options = ExportOptions.model_validate(run.options)
        try:
            exported = export_archive(
                target=target, actor=actor, choice=options.choice(), progress=progress
            )
            size = target.tell()
            if size > MAX_BYTES:
                text = _("The archive is larger than %(most)s GB. Export it on the command line.")
                raise RuleViolation(text % {"most": MAX_BYTES // 1024**3})
            # A worker that was killed may have left parts of an earlier try.
            ImportChunk.objects.filter(run=run).delete()
            target.seek(0)
            for number, block in enumerate(iter(lambda: target.read(CHUNK_BYTES), b"")):
                ImportChunk.objects.create(run=run, number=number, content=block)
                watch()
        except RunCancelled:
            ImportChunk.objects.filter(run=run).delete()
            return None
    counts = {
        name.removesuffix(".jsonl"): {"exported": summary.rows}
        for name, summary in exported.manifest.files.items()
        if summary.rows
    }
    total = sum(count["exported"] for count in counts.values())
    ImportRun.objects.filter(pk=run.pk).update(
        counts=counts,
        size=size,
        done=total,
        planned=total,
        expires_at=timezone.now() + KEEP_FILE,
    )
    return exported.notes


def open_export(run: ImportRun, actor: Actor) -> Iterator[bytes]:
    """Return the parts of a finished export's archive. Raises `NotAllowed`, or `NotFound` if it has expired."""
    actor.require_person("export content")
    actor.require(PERMISSION)
    is_done = run.is_export and run.state == JobState.DONE
    is_over = run.expires_at is None or run.expires_at <= timezone.now()
    if not is_done or is_over or not run.chunks.exists():
        raise NotFound(_("This archive has expired. Export it again."))
    numbers = run.chunks.order_by("number").values_list("number", flat=True)
    # One query per part, so that only one part of a large archive is in memory.
    return (bytes(run.chunks.get(number=number).content) for number in numbers.iterator())
