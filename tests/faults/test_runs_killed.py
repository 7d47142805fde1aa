"""The process that executes a run is killed at every step: a real broker, a real worker, a real
signal.

One worker executes a run for each point. Its child dies there by SIGKILL, and the next child
continues with the queue.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest

from tests.fake_provider import Asked, Call, FakeProvider, Reply, serving
from tests.faults.dying import POINTS
from tests.faults.processes import Site, own_database

pytestmark = pytest.mark.services
ENDED: Final = re.compile(r"run_agent\[([^\]]+)\] succeeded")
BEGIN: Final = """
import json
from django.core.management import call_command
call_command("migrate", verbosity=0)
from agents_app.runs.creation import create_run
from agents_app.tasks import run_agent
from tests import make
from tests.faults.dying import POINTS
begun = {}
for number, point in enumerate(POINTS):
    post = make.post(f"Post number {number}.", slug=f"post-{number}")
    run = create_run(
        agent_id="stager", scope="dropdown", actor=make.actor("editor"), post_id=post.pk,
        context={"killAt": point, "wish": f"post_id:{post.pk}"},
    )
    run_agent.delay(str(run.pk))  # a message may come twice
    begun[point] = str(post.pk)
print(json.dumps({"posts": begun, "hash": make.live_hash()}))
"""
LOOK: Final = """
import json
from django.db.models import Sum
from agents_app.models import AgentRun, Reservation, RunPost, Spending
from content.layers import open_layers
from tests import make
runs = {}
for run in AgentRun.objects.select_related("post"):
    layer = open_layers(run.post).ai_review
    runs[run.context["killAt"]] = {
        "status": run.status, "attempts": run.attempts, "error": run.error,
        "staged": sorted(layer.changes.paths), "steps": [step.number for step in run.steps.all()],
    }
used = AgentRun.objects.aggregate(i=Sum("input_tokens"), o=Sum("output_tokens"), cost=Sum("cost"))
spent = Spending.objects.aggregate(tokens=Sum("tokens"), cost=Sum("cost"))
found = {
    "runs": runs, "hash": make.live_hash(), "reserved": Reservation.objects.count(),
    "used": [used["i"] + used["o"], str(used["cost"])], "spent": [spent["tokens"], str(spent["cost"])],
}
print(json.dumps(found))
"""
SWEEP: Final = """
import json
from datetime import timedelta
from django.db.models import F
from agents_app.models import AgentRun
from agents_app.runs import lifecycle
AgentRun.objects.filter(status="running").update(heartbeat_at=F("heartbeat_at") - timedelta(minutes=5))
lifecycle.wake = lambda run_id, event_id: None
lifecycle.sweep_runs()
"""
WAKE: Final = """
from agents_app.models import AgentRun
from agents_app.tasks import run_agent
for run_id in AgentRun.objects.filter(status="queued").values_list("pk", flat=True):
    run_agent.delay(str(run_id))
print(json.dumps(found))
"""
AGENT: Final = """---
name: Stager
scopes: [{scope: dropdown}]
llmConfig: {providerText: openai, useMCP: true, allowedMCPTools: [save_post_ai_review]}
---
You are {{agent}}.
"""
BOTH: Final = ["post.excerpt", "post.metaTitle"]


class Questions(list[Asked]):
    """Concurrent provider requests: each thread answers its own."""

    here = threading.local()

    def append(self, asked: Asked) -> None:
        self.here.asked = asked
        super().append(asked)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """Yield a provider that stages an excerpt with a tool, then answers with a title."""
    with serving(Reply(status=500)) as fake:
        fake.asked = Questions()
        fake.next_reply = lambda: _reply(Questions.here.asked)  # type: ignore[method-assign]
        yield fake


def _reply(asked: Asked) -> Reply:
    messages = asked.body["messages"]
    if messages[-1]["role"] == "tool":
        return Reply({"post": {"metaTitle": "Title"}})
    post_id = messages[1]["content"].partition("post_id:")[2][:36]
    call = Call("save_post_ai_review", {"postId": post_id, "patch": {"excerpt": "Excerpt"}})
    return Reply(calls=(call,))


@pytest.fixture
def site(tmp_path: Path, provider: FakeProvider) -> Iterator[Site]:
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "stager.md").write_text(AGENT)
    with own_database() as database:
        site = Site(
            tmp_path,
            database,
            RUNS_DIE="1",
            CMS_AGENTS_DIR=str(agents),
            AI_PROVIDER_OPENAI_API_KEY="sk-canary-never-shown-1234567890",
            AI_PROVIDER_OPENAI_BASE_URL=provider.openai_url,
        )
        python, *rest = site.commands["worker"]
        site.commands["worker"] = [
            *(python, *rest[: rest.index("worker") + 1]),
            *("--pool", "prefork", "--concurrency", str(len(POINTS)), "--loglevel", "INFO"),
        ]
        try:
            yield site
        finally:
            site.stop()


def _wait_for_deaths(site: Site, deaths: int) -> None:
    """Wait until that many children of the worker have died, and every message is consumed.

    A message redelivered after the sweep would start its run again.
    """
    until = time.monotonic() + 90
    log = site.folder / "worker.log"
    while True:
        text = log.read_text(errors="replace")
        found = text.count("exited with 'signal 9"), len(set(ENDED.findall(text)))
        if found[0] >= deaths and found[1] >= 2 * deaths:
            return
        assert time.monotonic() < until, (found, site.log("worker"))
        time.sleep(0.2)


def _wait(site: Site, finished: int, running: int) -> None:
    until = time.monotonic() + 90
    states = "SELECT count(*) FILTER (WHERE status = %s), count(*) FILTER (WHERE status = %s)"
    with psycopg.connect(site.database, autocommit=True) as connection:
        while True:
            cursor = connection.execute(
                f"{states} FROM agents_app_agentrun", ("succeeded", "running")
            )
            found = cursor.fetchone()
            # The last attempt of a running one may still be alive: its process ends in a moment.
            if found == (finished, running):
                return
            assert time.monotonic() < until, (found, site.log("worker"))
            time.sleep(0.2)


def test_a_process_killed_at_any_step_of_a_run_leaves_nothing_half_done(
    site: Site, provider: FakeProvider
) -> None:
    site.start("redis")
    begun = site.ask(BEGIN)
    site.start("worker")

    died = dict.fromkeys(POINTS, "running") | {"after the commit": "succeeded"}
    _wait_for_deaths(site, len(POINTS))
    _wait(site, finished=1, running=len(POINTS) - 1)
    swept = site.ask(SWEEP + LOOK + WAKE)
    for point in POINTS:
        expected = ("succeeded", BOTH) if died[point] == "succeeded" else ("queued", [])
        run = swept["runs"][point]
        assert (run["status"], run["staged"], run["attempts"]) == (*expected, 1), point
    assert swept["reserved"] == 0
    assert swept["used"] == swept["spent"]

    _wait(site, finished=len(POINTS), running=0)
    ended = site.ask(LOOK)

    for point in POINTS:
        run = ended["runs"][point]
        attempts = 1 if died[point] == "succeeded" else 2
        assert (run["staged"], run["attempts"], run["error"]) == (BOTH, attempts, ""), point
        assert run["steps"] == list(range(1, len(run["steps"]) + 1)), point
    assert ended["reserved"] == 0
    assert ended["used"] == ended["spent"]
    assert ended["hash"] == begun["hash"]
    assert "sk-canary" not in json.dumps(ended) + site.log("worker")
