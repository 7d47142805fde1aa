"""Steps of a task that are independent of each other's failures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from proofroom.core.database.errors import is_database_unreachable

logger = logging.getLogger(__name__)
Step: TypeAlias = Callable[[str], AbstractContextManager[None]]


class StepsFailed(Exception):
    """Some steps failed and were logged. The others succeeded."""


@contextmanager
def independent_steps() -> Iterator[Step]:
    """Continue after failing steps. Raises `StepsFailed` at the end, so that the task counts as failed.

        with independent_steps() as step:
            for run in overdue:
                with step(f"run {run.pk}"):
                    end_run(run)

    An unreachable database ends the block at once, because all other steps would fail, too.
    """
    failed: list[str] = []

    @contextmanager
    def step(what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if is_database_unreachable(error):
                raise
            logger.exception("%s failed; the other steps continue", what)
            failed.append(what)

    yield step
    if failed:
        raise StepsFailed(f"failed, see the log above: {', '.join(failed)}")
