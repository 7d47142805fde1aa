"""The five journeys exist, and use the parts they are named after."""

from __future__ import annotations

import sys

from tests.commands import run_command

_PARTS = {
    "PUT of a post": "content/layers/live.py",
    "run of an agent": "agents_app/runs/execution.py",
    "approval": "content/layers/approve.py",
    "delivery of the approval to a webhook": "proofroom/webhooks/delivery.py",
    "page of the site": "proofroom_apps/website/rendering.py",
    "staging by an AI client, below the bridge": "content/layers/stage.py",
}


def test_a_way_leads_through_its_part() -> None:
    # One test: with a fixture, each process of the test run would print the journeys again.
    done = run_command([sys.executable, "-m", "benchmarks.journeys", "--files"], timeout=180)
    assert done.returncode == 0, done.stderr[-4000:]

    for way, part in _PARTS.items():
        files = done.stdout.split(f"\n\n{way}\n")[1].split("\n\n")[0]
        assert f" {part}\n" in f"{files}\n", way
        assert len(files.splitlines()) > 20, way
