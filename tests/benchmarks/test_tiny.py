"""Every benchmark runs to its end, as tiny as can be: what it measures has not moved away from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks.parts import PARTS

pytestmark = pytest.mark.services


@pytest.mark.parametrize("part", PARTS)
def test_it_runs(part: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", part, "--tiny"],
        cwd=settings.BASE_DIR,
        # The queue in files: messages in Redis would reach the workers of other tests.
        env={**os.environ, "REDIS_URL": "", "CMS_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert "cores (" in done.stdout  # the line before the figures
