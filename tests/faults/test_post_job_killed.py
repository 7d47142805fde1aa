"""The process of a background job is killed inside a part, on PostgreSQL; the sweep makes another one continue."""

from __future__ import annotations

import json
import signal
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.faults.processes import own_database
from tests.faults.scripts import run_script

pytestmark = pytest.mark.services
BEGIN: Final = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from content.posts import jobs
from proofroom.core.background_jobs import runner
from tests import make
jobs.MAX_IN_REQUEST = 0
runner.queue_task = lambda *names: None
posts = [make.post(f"Post {n}", slug=f"post-{n}", status="draft") for n in range(4)]
jobs.start_job(kind="publish", post_ids=[post.pk for post in posts], actor=make.actor("admin"))
"""
DIE: Final = """
import os, signal
from dataclasses import replace
from content.models import Post, PostJob
from content.posts import jobs
step = jobs.STEPS["publish"]
def mortal(job, items, actor):
    step.run(job, items, actor)
    if Post.objects.get(pk=items[0].post).slug == "post-2":
        os.kill(os.getpid(), signal.SIGKILL)  # published, and not yet committed
jobs.STEPS = {**jobs.STEPS, "publish": replace(step, run=mortal)}
jobs.POST_JOBS.execute(PostJob.objects.get().pk)
"""
LOOK: Final = """
import json
from datetime import timedelta
from django.utils import timezone
from content.models import Post, PostJob
from content.posts.jobs import POST_JOBS
from proofroom.core.background_jobs import runner
from proofroom.core.models import Event
job = PostJob.objects.get()
before = [job.state, job.done, sorted(Post.objects.filter(status="published").values_list("slug", flat=True))]
PostJob.objects.update(touched_at=timezone.now() - timedelta(hours=1))
runner.queue_task = lambda name, pk: POST_JOBS.execute(pk)
woken = POST_JOBS.resume_late()
job.refresh_from_db()
print(json.dumps({
    "before": before, "woken": woken, "state": job.state, "done": job.done, "attempts": job.attempts,
    "published": Event.objects.filter(name="post.published").count(),
}))
"""


def test_a_job_goes_on_where_its_process_was_killed(tmp_path: Path) -> None:
    with own_database() as database:
        run = partial(run_script, database=database, folder=tmp_path)
        begun = run(BEGIN)
        assert begun.returncode == 0, begun.stderr
        for _time in range(2):
            killed = run(DIE)
            assert killed.returncode == -signal.SIGKILL, killed.stderr
        looked = run(LOOK)

    assert looked.returncode == 0, looked.stderr
    assert json.loads(looked.stdout.splitlines()[-1]) == {
        "before": ["running", 2, ["post-0", "post-1"]],
        "woken": 1,
        "state": "done",
        "done": 4,
        "attempts": 0,
        "published": 4,
    }
