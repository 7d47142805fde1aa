"""Tools forbidden by an agent's list stay forbidden in any spelling; locked modules stay locked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import agents as definitions
from content.layers import open_layers
from content.models import Draft, Layer
from tests import make
from tests.agents.asking import execute
from tests.agents.environment import write_agent
from tests.agents.tooling import names, toolbox, tooled
from tests.diagnostics.asking import TOOLS as DIAGNOSTICS
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "name",
    [
        "save_post_ai_review ",
        " save_post_ai_review",
        "Save_Post_AI_Review",
        "SAVE_POST_AI_REVIEW",
        "save-post-ai-review",
        "savePostAiReview",
        "functions.save_post_ai_review",
        "mcp__cms__save_post_ai_review",
        "save_post_ai_review\n",
        "save_post_ai_review\x00",
        "ѕave_post_ai_review",
        "",
        "save_post_ai_review",
    ],
    ids=lambda name: name.encode("ascii", "backslashreplace").decode() or "empty",
)
def test_threat_48_no_spelling_of_a_tool_slips_past_the_list(agents_dir: Path, name: str) -> None:
    tooled(agents_dir, "reader", "list_posts")
    post = make.post()
    box, run = toolbox("reader", post)

    answer = box.call(name, {"postId": str(post.pk), "patch": {"title": "x"}})

    assert not answer.ok
    assert not Draft.objects.exists()
    assert [step.ok for step in run.steps.all()] == [False]


def test_threat_48_an_empty_or_absent_list_means_all_but_what_nobody_lends(
    agents_dir: Path,
) -> None:
    tooled(agents_dir, "empty")
    write_agent(agents_dir, "absent", "dropdown", extra="llmConfig: {useMCP: true}")
    definitions.reload()
    post = make.post()

    empty, absent = (names(toolbox(agent, post)[0]) for agent in ("empty", "absent"))

    assert empty == absent
    assert {"list_posts", "save_post_ai_review", "run_agent", "create_post_ai_review"} <= empty
    assert "submit_ai_review_to_review" not in empty
    assert not empty & set(DIAGNOSTICS)


def test_threat_48_an_agent_submits_only_where_its_file_says_so(agents_dir: Path) -> None:
    tooled(agents_dir, "quiet")
    tooled(agents_dir, "submitter", "submit_ai_review_to_review")
    post = make.post()
    make.staged(post, {"excerpt": "Waits"})
    call: Any = {"postId": str(post.pk)}

    refused = toolbox("quiet", post)[0].call("submit_ai_review_to_review", call)
    assert not make.layers(post).review.exists
    done = toolbox("submitter", post)[0].call("submit_ai_review_to_review", call)

    assert (refused.ok, done.ok) == (False, True)
    assert make.layers(post).review.changes.paths == ("post.excerpt",)


@pytest.mark.parametrize("tool", DIAGNOSTICS)
def test_threat_48_a_list_does_not_lend_what_no_agent_may_use(agents_dir: Path, tool: str) -> None:
    tooled(agents_dir, "curious", tool, "list_posts")
    box, _ = toolbox("curious", make.post())

    assert names(box) == {"list_posts"}
    assert "not on the list of tools" in box.call(tool, {}).text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remove_post_module_ai_review", {}),
        ("update_post_module_ai_review", {"orderIndex": 2}),
        ("update_post_module_ai_review", {"locked": False}),
        ("update_post_module_ai_review", {"locked": True, "props": {"title": "x"}}),
        ("update_post_module_ai_review", {"props": {"locked": False}}),
        ("add_module_to_post_ai_review", {"moduleType": "callout", "orderIndex": 0}),
        ("save_post_ai_review", {"patch": {"modules": []}}),
    ],
    ids=["remove", "move", "unlock", "lock", "prop", "in front", "patch"],
)
def test_threat_52_an_agent_cannot_loosen_a_locked_module(
    agents_dir: Path, tool: str, arguments: dict[str, Any]
) -> None:
    tooled(agents_dir, "wide")
    post = make.post()
    hero = make.module_id(post, "hero")
    box, _ = toolbox("wide", post)
    on = (
        {"postId": str(post.pk)}
        if tool in ("add_module_to_post_ai_review", "save_post_ai_review")
        else {"postModuleId": hero}
    )

    answer = box.call(tool, {**on, **arguments})

    assert not answer.ok
    layers = open_layers(post)
    assert not layers.view(Layer.AI_REVIEW).exists
    module = layers.ai_review.document.module(hero)
    assert module is not None
    assert module.locked


def test_threat_52_the_answer_of_a_run_cannot_either(openai: Any) -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    openai(Reply({"module": {"postModuleId": hero, "locked": False, "props": {"title": "x"}}}))

    run = execute(post)

    assert (run.status, run.staged) == ("failed", [])
    assert not Draft.objects.exists()
