"""Agent pages filled with an object of every kind."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.utils import timezone

from agents_app.definitions.agents import get_agent
from agents_app.models import AgentBatch, AgentRun, ChampionChallenger, Evaluation, RunReaction
from agents_app.runs.prompt import save_prompt_version
from content.models import Post
from proofroom.core.json import JsonObject
from tests import make

LONG = (
    "How to brew filter coffee with a scale and a kettle, without any machine, in ten quiet minutes"
)


def run(post: Post | None, status: str = "succeeded", **values: Any) -> AgentRun:
    """Create a run as left by a model."""
    now = timezone.now()
    return AgentRun.objects.create(
        **{
            "agent_id": "seo-specialist",
            "scope": "dropdown",
            "post": post,
            "by": make.user("editor"),
            "by_name": "editor",
            "via": "admin",
            "status": status,
            "provider": "openai",
            "model": "gpt-example",
            "input_tokens": 4210,
            "output_tokens": 380,
            "cost": Decimal("0.013400"),
            "started_at": now,
            "finished_at": None if status in ("queued", "running") else now,
            **values,
        }
    )


def tries(post: Post) -> AgentRun:
    """Create three tries at the title, the last of them failed."""
    field = {"scope": "field", "field_key": "post.title", "stages_value": False}
    first = run(post, value="Filter coffee by hand in 10 minutes", summary="Shorter.", **field)
    run(
        post,
        value="Brew filter coffee by hand: a calm guide",
        first_try=first,
        note="Less like an advertisement, and no number",
        **field,
    )
    error = "The provider answered 429: too many requests."
    run(post, "failed", error=error, first_try=first, note="Again, please", **field)
    return first


def story(post: Post) -> AgentRun:
    """Create a run with tools, a cause, a consequence, reactions and messages."""
    cause = run(post, summary="Checked the spelling.", agent_id="proofreader")
    event = make.event("post.ai-review.save", postId=str(post.pk))
    own = run(
        post,
        scope="post.ai-review.save",
        event=event,
        cause_run=cause,
        hop=1,
        summary="Wrote a description of 150 characters, and left the title as it is.",
        staged=["post.metaDescription"],
        has_read_untrusted=True,
    )
    _steps(own)
    for number, (role, text) in enumerate(
        (("system", "You are the search editor."), ("user", "BEGIN\n{}\nEND"), ("assistant", "{}")),
        1,
    ):
        own.messages.create(number=number, role=role, text=text)
    run(post, "failed", agent_id="proofreader", cause_run=own, hop=2, error="No budget is left.")
    _reactions(own)
    return own


def _steps(of: AgentRun) -> None:
    for number, (kind, name, ok, summary) in enumerate(
        (
            ("model", "gpt-example", True, "called search_media"),
            ("tool", "search_media", True, "3 images"),
            ("tool", "get_media", False, "There is no media file with the ID 1."),
            ("model", "gpt-example", True, "answered"),
        ),
        1,
    ):
        of.steps.create(
            number=number, kind=kind, name=name, ok=ok, milliseconds=number * 310, summary=summary
        )


def _reactions(to: AgentRun) -> None:
    RunReaction.objects.create(
        run=to, number=0, kind="webhook", target="hooks.example.com", status="succeeded", attempts=1
    )
    RunReaction.objects.create(
        run=to,
        number=1,
        kind="mcp_tool",
        trigger="on_success",
        target="add_feedback",
        status="failed",
        attempts=5,
        error="There is no post of that id.",
    )


def evaluation(of: AgentRun) -> Evaluation:
    """Create a finished evaluation with a challenger, whose answers to one run differ in every way."""
    agent = get_agent(of.agent_id)
    assert agent is not None
    digest = save_prompt_version(agent)
    ChampionChallenger.objects.create(
        agent_id=of.agent_id, challenger_model="openai:gpt-example", share=20, set_at=timezone.now()
    )
    made = Evaluation.objects.create(
        agent_id=of.agent_id,
        model="openai:gpt-example",
        champion={"model": "demo:demo", "prompt": digest},
        challenger={"model": "openai:gpt-example", "prompt": digest},
        budget=Decimal(1),
        spent=Decimal("0.0134"),
        state="done",
        why="The budget is used up.",
        total=2,
        done=1,
        by_name="admin",
    )
    approved = {"post.metaTitle": "Filter coffee by hand", "post.metaDescription": LONG}
    decided: JsonObject = {"approved": {**approved}, "rejected": ["post.excerpt"]}
    made.items.create(
        position=0,
        run=of,
        state="done",
        decided=decided,
        champion=_answer({**approved}, "same", agrees=True),
        challenger=_answer(
            {"post.metaTitle": "Coffee by hand, filtered", "post.excerpt": "Now."},
            "different",
            agrees=False,
        ),
    )
    left = "It would cost more than is left of the budget."
    made.items.create(position=1, run=of, state="left", decided=decided, why=left)
    return made


def _answer(values: JsonObject, outcome: str, *, agrees: bool) -> JsonObject:
    paths = ("post.metaTitle", "post.metaDescription", "post.excerpt")
    return {
        "values": values,
        "paths": [
            {
                "path": path,
                "decision": "rejected" if path == "post.excerpt" else "approved",
                "outcome": outcome if path in values else "missing",
                "agrees": agrees,
                "distance": 0.5,
                "heldOut": path == "post.metaTitle",
            }
            for path in paths
        ],
        "failedChecks": [] if agrees else ["seoTitle"],
        "cost": 0.0134,
        "seconds": 1.5,
        "error": "" if agrees else "The answer ended too early.",
    }


def batch(post: Post) -> AgentBatch:
    """Create a batch of four posts: done, failed, running, waiting; and a batch that never started."""
    made = AgentBatch.objects.create(
        agent_id="seo-specialist",
        open_ended_context="Mind the word ‘filter’.",
        by_name="admin",
        rejected=[{"id": "x", "error": "No post has the ID x."}],
    )
    scope = {"scope": "posts.bulk", "batch": made}
    run(post, staged=["post.metaTitle", "post.excerpt"], summary="Sharper title.", **scope)
    run(make.post(LONG), "failed", error="The answer was refused after 3 tries.", **scope)
    run(make.post("Kettles compared"), "running", doing="Writing, about 120 words so far", **scope)
    run(make.post("Water"), "queued", provider="", model="", cost=None, **scope)
    return made
