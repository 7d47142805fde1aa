"""Workers that die at a point of a run: from then on, nothing they do reaches the database.

Death is simulated by a statement that is not executed. Tests with real processes are in
tests/faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F, Sum

from agents_app.models import AgentRun, Reservation, Spending
from agents_app.providers import selection
from agents_app.runs import execution, run_log
from content.layers import open_layers
from content.models import Post
from tests.fake_provider import Call, FakeProvider, Reply

TOOLS = "llmConfig:\n  useMCP: true\n  allowedMCPTools: [save_post_ai_review]"
ANSWER = {"post": {"metaTitle": "By the answer"}, "summary": "Both."}
BOTH = ["post.excerpt", "post.metaTitle"]


class Killed(BaseException):
    """The process is killed."""


class Death:
    """Kills once at a point, before or after its action."""

    def __init__(self) -> None:
        self.has_come = False

    def at(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, when: str) -> None:
        real = getattr(owner, name)

        def point(*args: Any, **given: Any) -> Any:
            if self.has_come:
                return real(*args, **given)
            answer = real(*args, **given) if when == "after" else None
            self.has_come = True
            raise Killed(answer)

        monkeypatch.setattr(owner, name, point)

    def refuse(self, execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        if self.has_come:
            raise Killed
        return execute(sql, params, many, context)


@contextmanager
def dying(death: Death) -> Iterator[None]:
    with connection.execute_wrapper(death.refuse), pytest.raises(Killed):
        yield
    connection.close()  # as the server does with one whose other end is gone


POINTS = {
    "claimed": (execution, "prepare_attempt", "before"),
    "before the first request": (selection, "open_conversation", "before"),
    "reserved": (run_log, "reserve", "after"),
    "while the model streams": (run_log.RunWatcher, "heard", "before"),
    "answered, and not yet counted": (run_log.RunWatcher, "after_request", "before"),
    "between counting and the rest": (run_log, "settle", "after"),
    "before the tool": (execution.RunToolbox, "call", "before"),
    "in the tool, after it staged": (execution, "add_step", "before"),
    "after the tool": (execution.RunToolbox, "call", "after"),
    "before the final staging": (execution, "finish_run", "before"),
    "staged, and not yet committed": (execution, "record_run_end", "before"),
}


def answering(openai: Callable[..., FakeProvider]) -> Callable[[AgentRun], FakeProvider]:
    """Make the model stage an excerpt with the tool, then answer with a title."""
    fake = openai(Reply(status=500))

    def start(run: AgentRun) -> FakeProvider:
        call = Call("save_post_ai_review", {"postId": str(run.post_id), "patch": {"excerpt": "By"}})
        fake.replies[:] = [Reply(calls=(call,)), Reply(ANSWER)]
        return fake

    return start


def grow_silent() -> None:
    AgentRun.objects.update(heartbeat_at=F("heartbeat_at") - timedelta(minutes=2))


def sums_agree() -> bool:
    run = AgentRun.objects.get()
    spent = Spending.objects.aggregate(tokens=Sum("tokens"), cost=Sum("cost"))
    used = (run.input_tokens + run.output_tokens, run.cost or 0)
    return used == (spent["tokens"] or 0, spent["cost"] or 0) and not Reservation.objects.exists()


def staged_in(post: Post | None) -> list[str]:
    assert post is not None
    return sorted(open_layers(post).ai_review.changes.paths)
