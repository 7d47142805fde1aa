"""Three queues: events cannot delay deliveries, nor agents anything else."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from django.conf import settings

from cms_project.celery import app
from proofroom.core.management.commands.demo import Command
from tests.commands import run_command


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


FIRST_TASKS = """
import threading, django
from celery.app.task import Task
django.setup()
from proofroom.core.task_queue import queue_task

queued = []
Task.delay = lambda task, *arguments: queued.append(task.name)
begin = threading.Barrier(8)

def queue_first():
    begin.wait()
    queue_task("agents_app.tasks.run_agent", "1")

threads = [threading.Thread(target=queue_first) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*queued)
"""


def test_all_threads_of_a_new_process_can_queue_their_first_task() -> None:
    done = run_command([sys.executable, "-c", FIRST_TASKS])

    assert done.stderr == ""
    assert done.stdout.split() == ["agents_app.tasks.run_agent"] * 8
