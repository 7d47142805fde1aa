"""Three queues: events cannot delay deliveries, nor agents anything else."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import pytest
from django.conf import settings

from cms_project.celery import app
from proofroom.core.management.commands.demo import Command


def queue_of(task: str) -> tuple[str, str]:
    route: Any = app.amqp.router.route({}, task)
    return route["queue"].name, route["queue"].routing_key


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("core.tasks.dispatch_event", "celery"),
        ("agents_app.tasks.sweep_runs", "celery"),
        ("agents_app.tasks.run_agent", "agents"),
        ("agents_app.tasks.call_reaction", "agents"),
        ("webhooks.tasks.send_deliveries", "deliveries"),
        ("webhooks.tasks.sweep_deliveries", "deliveries"),
    ],
)
def test_deliveries_and_agents_have_queues_of_their_own(task: str, queue: str) -> None:
    # The key too: two queues with one key would each get every message.
    assert queue_of(task) == (queue, queue)


def test_a_worker_takes_from_every_queue() -> None:
    assert sorted(app.amqp.queues.consume_from) == ["agents", "celery", "deliveries"]


def queues_of(commands: Sequence[Sequence[str]]) -> list[str]:
    """Return the queues of each worker in the commands."""
    return [command[command.index("--queues") + 1] for command in commands if "worker" in command]


def test_runs_that_wait_for_models_keep_no_worker_from_events() -> None:
    demo = Command()
    demo.host, demo.env = "127.0.0.1", settings.CMS_ENV
    procfile = (settings.BASE_DIR / "deploy" / "Procfile").read_text()
    lines = [shlex.split(line) for line in procfile.splitlines()]

    assert queues_of([program.command for program in demo.programs()]) == [
        "celery,deliveries",
        "agents",
    ]
    assert queues_of([line[1:] for line in lines]) == ["celery,deliveries", "agents"]
