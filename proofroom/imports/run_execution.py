"""Carries out runs of imports and exports, in a worker."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import override

from proofroom.accounts.queries import preferences_of
from proofroom.core.actor import Actor, Via
from proofroom.core.database.faults import DATABASE_AWAY
from proofroom.core.errors import CmsError
from proofroom.imports.archives import unpack
from proofroom.imports.export_runs import execute_export
from proofroom.imports.models import ImportRun, RunState
from proofroom.imports.problems import sentence_of
from proofroom.imports.run_source import RunSource
from proofroom.imports.runs import end_run, find_importer

logger = logging.getLogger(__name__)
_TURN_SECONDS: Final = 120.0


def execute_run(run_id: UUID) -> None:
    """Carry out, or go on with, a run whose file was uploaded. Safe to call any number of times."""
    run = ImportRun.objects.select_related("by").filter(pk=run_id, state=RunState.RUNNING).first()
    if run is None:
        return
    if run.by is None or not run.by.is_active:
        end_run(
            run, RunState.FAILED, _("The person who started this no longer has an active account.")
        )
        return
    actor = Actor(user=run.by, via=cast("Via", run.via))
    try:
        with override(preferences_of(run.by).language or settings.LANGUAGE_CODE):
            _carry_out(run, actor)
    except CmsError as error:
        end_run(run, RunState.FAILED, error.message)
    except DATABASE_AWAY:
        raise  # the sweep goes on with it
    except Exception as error:
        logger.exception("Run %s failed", run.pk)
        end_run(run, RunState.FAILED, sentence_of(error))


def _carry_out(run: ImportRun, actor: Actor) -> None:
    if run.is_export:
        execute_export(run, actor)
        return
    importer = find_importer(run.source)
    with _uploaded_source(run, importer) as path:
        importer.execute(run, path, actor, ends=time.monotonic() + _TURN_SECONDS)


@contextmanager
def _uploaded_source(run: ImportRun, importer: RunSource) -> Iterator[Path]:
    """The uploaded file as one on this machine; of a folder, its archive unpacked."""
    with tempfile.TemporaryDirectory(prefix="import-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as file:
            for chunk in run.chunks.order_by("number").iterator(chunk_size=4):
                file.write(bytes(chunk.content))
        if importer.takes == "file":
            yield path
        else:
            yield unpack(path, Path(folder) / "content")
