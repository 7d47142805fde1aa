"""Ids of the current work, which log records, spans and messages to workers contain.

`request_id` is the request that started it, `task_id` the message to a worker, `run_id` the run of an agent, and
`cause_id` the event that caused the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal
from uuid import uuid4

WorkId = Literal["request_id", "task_id", "run_id", "cause_id"]
REQUEST_ID: Final = "proofroom.request_id"
"""Key of the request's id in `META`. It cannot collide with a header."""
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_-]{8,64}\Z")
_ids: ContextVar[Mapping[WorkId, str]] = ContextVar("work_ids")


def current_ids() -> Mapping[WorkId, str]:
    """Return the ids of the current work."""
    return _ids.get({})


@contextmanager
def bind_ids(ids: Mapping[WorkId, str | int | None]) -> Iterator[None]:
    """Add ids for the block. None keeps the outer id."""
    known = {name: str(value) for name, value in ids.items() if value is not None}
    token = _ids.set({**current_ids(), **known})
    try:
        yield
    finally:
        _ids.reset(token)


def choose_request_id(given: str | None) -> str:
    """Return the id from a trusted proxy if it is valid, otherwise a new one."""
    return given if given and _REQUEST_ID.match(given) else uuid4().hex
