"""The process of an import is killed between and inside items, on PostgreSQL; the sweep makes another
one continue.
"""

from __future__ import annotations

import json
import signal
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.faults.processes import own_database
from tests.faults.scripts import run_script

pytestmark = pytest.mark.services
BEGIN: Final = """
import json
from django.core.management import call_command
call_command("migrate", verbosity=0)
from proofroom_apps.imports import runs
from proofroom_apps.imports.importers.json_file import JsonImporter
from tests import make
runs.IMPORT_RUNS.send_later = lambda job_id: None
records = [{"id": n, "title": f"Post {n}", "body": "Text", "tags": ["tea"]} for n in range(6)]
importer = JsonImporter()
runs.start_run(
    actor=make.actor("admin"), importer=importer, name="a.json", options=importer.check_options({}),
    is_dry_run=False, upload=iter([json.dumps(records).encode()]),
)
"""
DIE: Final = """
import os, signal
from proofroom_apps.imports import item_runs
from proofroom_apps.imports.models import ImportRun
from proofroom_apps.imports.runs import IMPORT_RUNS
write = item_runs.write_post
def mortal(writer, item):
    if item.source_id == "4":
        os.kill(os.getpid(), signal.SIGKILL)  # the third post is stored, the fourth begins
    written = write(writer, item)
    if item.source_id == "2" and KILL_INSIDE:
        os.kill(os.getpid(), signal.SIGKILL)  # stored, and not yet committed
    return written
item_runs.write_post = mortal
IMPORT_RUNS.execute(ImportRun.objects.get().pk)
"""
LOOK: Final = """
import json
from datetime import timedelta
from django.utils import timezone
from content.models import Post
from proofroom_apps.imports.models import ImportChunk, ImportedObject, ImportRun
from proofroom_apps.imports.runs import IMPORT_RUNS
ImportRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))
before = [ImportRun.objects.get().state, Post.objects.count()]
IMPORT_RUNS.send_later = IMPORT_RUNS.execute
IMPORT_RUNS.resume_late()
run = ImportRun.objects.get()
print(json.dumps({
    "before": before, "state": run.state, "counts": run.counts, "done": [run.done, run.planned],
    "titles": sorted(Post.objects.values_list("title", flat=True)),
    "known": ImportedObject.objects.filter(kind="post").count(), "chunks": ImportChunk.objects.count(),
}))
"""


def test_an_import_goes_on_where_its_process_was_killed(tmp_path: Path) -> None:
    with own_database() as database:
        run = partial(run_script, database=database, folder=tmp_path)
        begun = run(BEGIN)
        assert begun.returncode == 0, begun.stderr
        for inside in (True, False):
            killed = run(f"KILL_INSIDE = {inside}\n{DIE}")
            assert killed.returncode == -signal.SIGKILL, killed.stderr
        looked = run(LOOK)

    assert looked.returncode == 0, looked.stderr
    found: dict[str, Any] = json.loads(looked.stdout.splitlines()[-1])
    assert found == {
        "before": ["running", 4],
        "state": "done",
        "counts": {"terms": {"created": 1}, "posts": {"created": 6}},
        "done": [7, 7],
        "titles": [f"Post {number}" for number in range(6)],
        "known": 6,
        "chunks": 0,
    }
