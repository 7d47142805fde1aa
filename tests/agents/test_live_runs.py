"""Open pages receive the progress of runs their user may see, and no log fills up with it."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from agents_app.models import AgentRun
from agents_app.providers.interface import StepRecord
from agents_app.runs.run_log import add_step
from proofroom.core.activity.queries import filter_activity
from proofroom.core.models import Event
from tests import make
from tests.core.sockets import in_a_loop, opened

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick(settings: Any) -> None:
    settings.LIVE_POLL_SECONDS = 0.01


@sync_to_async
def steps_of_a_run(post_id: Any) -> AgentRun:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="x", via="api", post_id=post_id
    )
    add_step(
        run, StepRecord(kind="model", name="a", ok=True, milliseconds=1, summary="of a secret")
    )
    return run


@sync_to_async
def marked() -> None:
    """Return the messages before a marker event."""
    make.image()


@in_a_loop
async def test_pages_hear_of_each_step_and_of_nothing_that_it_holds() -> None:
    post = await sync_to_async(make.post)()
    async with (
        opened("editor", f"post={post.pk}") as here,
        opened("editor") as elsewhere,
        opened("translator") as other,
    ):
        run = await steps_of_a_run(post.pk)
        await marked()

        for page in (here, elsewhere):
            said = await page.hears()
            assert (said["event"], said["runId"]) == ("run.step", str(run.pk))
            assert (said["postId"], said["agentId"]) == (str(post.pk), "seo-specialist")
            assert "secret" not in str(said)
        assert (await other.hears())["event"].startswith("media."), "translators see no runs"


def test_the_log_does_not_fill_with_steps() -> None:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="x", via="api"
    )
    add_step(run, StepRecord(kind="model", name="a", ok=True, milliseconds=1))

    assert Event.objects.filter(name="run.step").count() == 1
    assert not filter_activity().filter(name="run.step").exists()
