"""Two queues: what is known about events cannot keep deliveries waiting."""

from __future__ import annotations

from typing import Any

import pytest

from cms_project.celery import app


def queue_of(task: str) -> tuple[str, str]:
    route: Any = app.amqp.router.route({}, task)
    return route["queue"].name, route["queue"].routing_key


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("core.tasks.dispatch_event", "celery"),
        ("agents_app.tasks.sweep_runs", "celery"),
        ("webhooks.tasks.send_deliveries", "deliveries"),
        ("webhooks.tasks.sweep_deliveries", "deliveries"),
    ],
)
def test_deliveries_have_a_queue_of_their_own(task: str, queue: str) -> None:
    # The key too: two queues with one key would each get every message.
    assert queue_of(task) == (queue, queue)


def test_a_worker_takes_from_every_queue() -> None:
    assert sorted(app.amqp.queues.consume_from) == ["celery", "deliveries"]
