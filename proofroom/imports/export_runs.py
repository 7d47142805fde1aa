"""Runs of exports: started in the admin, written by a worker, downloaded by administrators for a day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from tempfile import TemporaryFile
from typing import Annotated, Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field

from proofroom.archive.export import PERMISSION, Choice, export_archive
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.imports.models import ImportChunk, ImportRun, RunState
from proofroom.imports.run_watch import RunCancelled, RunWatch
from proofroom.imports.runs import ARCHIVE, CHUNK_BYTES, end_run, send_later

MAX_BYTES: Final = 2 * 1024**3
KEEP_FILE: Final = timedelta(days=1)
Names = Annotated[list[Annotated[str, Field(max_length=2000)]], Field(max_length=500)]


class ExportOptions(BaseModel):
    """What of the site an export run takes, as it is stored; see `Choice`."""

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


@transaction.atomic
def start_export(*, actor: Actor, name: str, options: ExportOptions) -> ImportRun:
    """Note an export, which a worker carries out."""
    actor.require_person("export content")
    actor.require(PERMISSION)
    run = ImportRun.objects.create(
        source=ARCHIVE,
        is_export=True,
        name=name[:300],
        options=options.model_dump(mode="json"),
        by_id=actor.user.pk,
        by_name=actor.user.username,
        via=actor.via,
    )
    send_later(run)
    return run


def execute_export(run: ImportRun, actor: Actor) -> None:
    """Write the archive, and keep it in parts until it expires. Raises `CmsError`."""
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
                end_run(
                    run,
                    RunState.FAILED,
                    _("The archive is larger than %(most)s GB. Export it on the command line.")
                    % {"most": MAX_BYTES // 1024**3},
                )
                return
            ImportChunk.objects.filter(run=run).delete()
            target.seek(0)
            for number, block in enumerate(iter(lambda: target.read(CHUNK_BYTES), b"")):
                ImportChunk.objects.create(run=run, number=number, content=block)
                watch()
        except RunCancelled:
            ImportChunk.objects.filter(run=run).delete()
            return
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
    end_run(run, RunState.DONE, notes=exported.notes)


def open_export(run: ImportRun, actor: Actor) -> Iterator[bytes]:
    """The archive of a finished export, part by part. Raises `NotAllowed`, and `NotFound` where it has expired."""
    actor.require_person("export content")
    actor.require(PERMISSION)
    is_done = run.is_export and run.state == RunState.DONE
    is_over = run.expires_at is None or run.expires_at <= timezone.now()
    if not is_done or is_over or not run.chunks.exists():
        raise NotFound(_("This archive has expired. Export it again."))
    numbers = run.chunks.order_by("number").values_list("number", flat=True)
    return (bytes(run.chunks.get(number=number).content) for number in numbers.iterator())
