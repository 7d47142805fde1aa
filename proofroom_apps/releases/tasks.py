"""The worker's task of releases. The scheduler finds due releases through `content.posts.schedule`."""

from __future__ import annotations

from proofroom.core.background_jobs.registry import register_runner
from proofroom_apps.releases.runs import RELEASE_RUNS

register_runner(RELEASE_RUNS)
