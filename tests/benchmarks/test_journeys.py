"""The five journeys exist, and use the parts they are named after."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

_PARTS = {
    "PUT of a post": "content/layers/live.py",
    "run of an agent": "agents_app/runs/execution.py",
    "approval": "content/layers/approve.py",
    "delivery of the approval to a webhook": "proofroom/webhooks/delivery.py",
    "page of the site": "proofroom_apps/website/rendering.py",
    "staging by an AI client, below the bridge": "content/layers/stage.py",
}


@pytest.fixture(scope="module")
def printed() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.journeys", "--files"],
        cwd=Path(settings.BASE_DIR),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize(("way", "part"), _PARTS.items())
def test_a_way_leads_through_its_part(printed: str, way: str, part: str) -> None:
    files = printed.split(f"\n\n{way}\n")[1].split("\n\n")[0]

    assert f" {part}\n" in f"{files}\n"
    assert len(files.splitlines()) > 20
