"""An agent's run without the model's time, next to a bare call of the provider, in turns in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import httpx
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.report import Report

if TYPE_CHECKING:
    from agents_app.models import AgentRun
    from content.models import Post
    from proofroom.core.actor import Actor

MODULES = 20


@dataclass(frozen=True, slots=True)
class Taken:
    """The result: medians in milliseconds. `statements` and `sent_bytes` are of one run."""

    bare: float
    library: float
    created: float
    worked: float
    statements: int
    sent_bytes: int
    cpu_ratio: float


def measure(rounds: int, url: str) -> Taken:
    """Measure in rounds. Each round does the bare call, the AI library alone, and the run once."""
    from proofroom.accounts.models import User
    from proofroom.core.actor import Actor

    user = User.objects.create_user("bench@example.com", None, username="bench", role="admin")
    actor = Actor(user=user, via="api")
    post = _post(actor)
    body = _recorded_body(post, actor, url)
    ways: dict[str, Callable[[], object]] = {
        "bare": lambda: _bare(body, url),
        "library": lambda: _library(body, url),
    }
    for work in ways.values():
        work()  # the first call loads modules
    times: dict[str, list[float]] = {name: [] for name in ("bare", "library", "created", "worked")}
    ratios = []
    for _ in range(rounds):
        before = time.process_time()
        times["bare"].append(_milliseconds(ways["bare"]))
        bare = time.process_time() - before
        times["library"].append(_milliseconds(ways["library"]))
        begin = time.perf_counter()
        run = _create(post, actor)
        times["created"].append(1000 * (time.perf_counter() - begin))
        before = time.process_time()
        times["worked"].append(_milliseconds(lambda run=run: _execute(run)))  # type: ignore[misc]
        ratios.append((time.process_time() - before) / bare)
    run = _create(post, actor)
    with CaptureQueriesContext(connection) as captured:
        _execute(run)
    middle = {name: median(values) for name, values in times.items()}
    return Taken(**middle, statements=len(captured), sent_bytes=len(body), cpu_ratio=median(ratios))


def _post(actor: Actor) -> Post:
    from content.document.document import PostDocument
    from content.posts.create import create_post
    from content.store import document_edits
    from proofroom.definitions.richtext.markdown_reader import from_markdown

    text = from_markdown("A paragraph of some words stands in each of these modules. " * 4)

    def edit(document: PostDocument) -> PostDocument:
        for number in range(MODULES):
            props = {"title": f"Part {number}", "body": text}
            document, _ = document_edits.add_module(document, type="callout", props=props)
        return document

    fields = {"title": "Twenty modules", "slug": "twenty-modules"}
    return create_post(actor=actor, type="blog", fields=fields, edit=edit)


def _create(post: Post, actor: Actor) -> AgentRun:
    from agents_app.runs.creation import create_run

    _forget(post)
    return create_run(agent_id="seo-specialist", scope="dropdown", actor=actor, post_id=post.pk)


def _forget(post: Post) -> None:
    """Delete the proposal of the previous run, because the next run would otherwise have nothing new to propose."""
    from content.models import Draft

    Draft.objects.filter(post=post).delete()


def _execute(run: AgentRun) -> None:
    from agents_app.runs import execution

    execution.execute_run(run.pk)
    run.refresh_from_db()
    assert run.status == "succeeded", run.error
    assert run.staged == ["post.metaTitle"], run.staged


def _recorded_body(post: Post, actor: Actor, url: str) -> bytes:
    """Return the exact bytes that a run sends to the provider."""
    sent: list[bytes] = []
    import httpx2

    async def note(request: httpx2.Request) -> None:
        sent.append(bytes(await request.aread()))

    opened = httpx2.AsyncClient.__init__

    def watched(self: httpx2.AsyncClient, *args: Any, **kwargs: Any) -> None:
        kwargs["event_hooks"] = {"request": [note]}
        opened(self, *args, **kwargs)

    httpx2.AsyncClient.__init__ = watched  # type: ignore[method-assign]
    try:
        _execute(_create(post, actor))
    finally:
        httpx2.AsyncClient.__init__ = opened  # type: ignore[method-assign]
    return sent[-1]


def _bare(body: bytes, url: str) -> None:
    """Send the same bytes in one call on a new connection, and read the whole response."""
    with httpx.Client(verify=False) as client:  # noqa: S501  # nothing is encrypted here
        answer = client.post(
            f"{url}/chat/completions", content=body, headers={"content-type": "application/json"}
        )
    assert answer.status_code == 200, answer.status_code


def _library(body: bytes, url: str) -> None:
    """Run the AI library alone: the same messages, its loop, parsing and validation."""
    import asyncio
    import json

    from pydantic_ai import Agent, ToolOutput
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from agents_app.runs.suggestion import Suggestion

    messages = json.loads(body)["messages"]
    model = OpenAIChatModel("benchmark", provider=OpenAIProvider(api_key="none", base_url=url))
    agent = Agent(
        model,
        output_type=ToolOutput(Suggestion, name="suggest"),
        system_prompt=str(messages[0]["content"]),
    )
    asyncio.run(agent.run(str(messages[-1]["content"])))


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begin)


def show(found: Taken, report: Report) -> None:
    report.ratios["the run done (worker)"] = found.cpu_ratio
    report.say(f"One post with {MODULES} modules; a request of {found.sent_bytes:,} bytes.")
    report.show_table(
        ("what", "ms", "of the bare call"),
        [
            (name, f"{value:.1f}", f"{value / found.bare:.1f}")
            for name, value in (
                ("bare provider call", found.bare),
                ("the AI library alone", found.library),
                ("the run begun (request)", found.created),
                ("the run done (worker)", found.worked),
            )
        ],
    )
    overhead = found.worked - found.bare
    report.say(
        f"Overhead of a run: {overhead:.0f} ms; {found.statements} SQL statements; "
        f"{found.cpu_ratio:.1f} times the CPU time of the bare call."
    )
