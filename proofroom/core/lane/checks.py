"""The system check of the role of agents: it exists, has the declared rights and no others, and is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import psycopg
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connection

from proofroom.core.lane.installation import differences
from proofroom.core.lane.rights import undeclared_models
from proofroom.core.lane.session import ROLE
from proofroom.core.task_queue import task_app

_AGENTS_QUEUE: Final = "agents"
_INSTALL: Final = "run manage.py install_lane as the role that owns the tables"
_MAX_SHOWN: Final = 10


@register(Tags.security, deploy=True)
def check_lane(**kwargs: object) -> Iterator[CheckMessage]:
    """Yield what is wrong with the role of agents, if it is used."""
    if connection.vendor != "postgresql" or not settings.CMS_ENV.lane_database_url:
        return
    for found, advice in lane_problems():
        yield Error(found, hint=f"{advice[:1].upper()}{advice[1:]}.", id="proofroom.lane")
    tables = sorted(model._meta.db_table for model in undeclared_models())
    if tables:
        yield Warning(
            f"Agents and AI clients cannot use {', '.join(tables)}: no lane_rights.py declares these tables.",
            hint="Declare them in the lane_rights.py of their app, then run manage.py install_lane.",
            id="proofroom.lane_undeclared",
        )
    for worker in mixed_workers():
        yield Warning(
            f"The worker {worker} runs agents with all rights, because it takes other queues as well.",
            hint="Start one worker with --queues agents, and another with --queues celery,deliveries.",
            id="proofroom.lane_workers",
        )


def lane_problems() -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the role in the database, each with advice."""
    try:
        found = differences()
    except DatabaseError as error:
        yield f"The rights of {ROLE} cannot be read ({type(error).__name__}).", "run ./run doctor"
        return
    for difference in found[:_MAX_SHOWN]:
        yield difference.found, difference.advice or _INSTALL
    if len(found) > _MAX_SHOWN:
        yield f"The role {ROLE} has {len(found) - _MAX_SHOWN} more differences.", _INSTALL
    if not found:
        yield from _connection_problems()


def _connection_problems() -> Iterator[tuple[str, str]]:
    try:
        with psycopg.connect(settings.CMS_ENV.lane_database_url or "", connect_timeout=2) as lane:
            [user] = lane.execute("SELECT current_user").fetchone() or [""]
    except psycopg.Error as error:
        # The message may contain the address; the type does not.
        advice = "check its password and host; install_lane sets the password of the URL"
        yield f"LANE_DATABASE_URL does not connect ({type(error).__name__}).", advice
        return
    if user != ROLE:
        yield f"LANE_DATABASE_URL connects as {user}.", f"name {ROLE} in it"


def mixed_workers() -> list[str]:
    """Return the workers that run agents and take other queues as well. Only with Redis, which carries replies."""
    if not settings.CMS_ENV.redis_url:
        return []
    replies = task_app().control.inspect(timeout=1.0).active_queues() or {}
    return sorted(
        worker
        for worker, queues in replies.items()
        if len({queue["name"] for queue in queues}) > 1
        and _AGENTS_QUEUE in {queue["name"] for queue in queues}
    )
