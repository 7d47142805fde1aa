"""One agent on many posts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from agents_app.batches.lifecycle import create_bulk_runs
from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun
from content.posts.trash import delete_post
from proofroom.core.errors import NotAllowed
from tests import make
from tests.agents.environment import write_agent
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
URL = "/api/posts/bulk-agents/{}/run"


def send(agent_id: str, body: Any, expect: int) -> Any:
    return ApiClient("admin").write("POST", URL.format(agent_id), body, expect=expect)


def test_each_post_gets_a_run_once_in_the_order_of_the_ids() -> None:
    posts = [make.post(f"Post {number}", slug=f"post-{number}") for number in range(3)]
    ids = [str(post.pk) for post in posts]

    answer = send(
        "seo-specialist",
        {"ids": [ids[2], ids[0], ids[0].upper(), ids[1]], "openEndedContext": "Short, please"},
        201,
    )

    assert [run["postId"] for run in answer["data"]] == [ids[2], ids[0], ids[1]]
    assert {run["scope"] for run in answer["data"]} == {"posts.bulk"}
    assert answer["rejected"] == []
    rows = AgentRun.objects.all()
    assert {row.open_ended_context for row in rows} == {"Short, please"}
    assert {row.by_name for row in rows} == {"admin"}


def test_threat_12_foreign_ids_reveal_nothing() -> None:
    post, gone = make.post("Here"), make.post("Secret title", slug="gone")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    unknown, other = str(uuid4()), make.user("editor").pk

    answer = send(
        "seo-specialist",
        {"ids": [str(gone.pk), unknown, "nonsense", str(other), str(post.pk)]},
        201,
    )

    assert [run["postId"] for run in answer["data"]] == [str(post.pk)]
    sentence = "No post has the ID {}."
    assert answer["rejected"] == [
        {"id": id_, "error": sentence.format(id_)}
        for id_ in (str(gone.pk), unknown, "nonsense", str(other))
    ]
    assert "Secret" not in str(answer)


@pytest.mark.parametrize("missing", ["agents.edit", "posts.view"])
def test_threat_13_it_needs_the_agents_permission_and_the_posts(missing: str) -> None:
    post = make.post()
    admin = make.actor("admin")
    granted = frozenset({"agents.edit", "posts.view", "agents.view"}) - {missing}
    narrowed = replace(admin, permissions=granted)

    with pytest.raises(NotAllowed):
        create_bulk_runs(agent_id="seo-specialist", post_ids=[str(post.pk)], actor=narrowed)

    assert AgentRun.objects.count() == 0


def test_the_agent_must_run_in_bulk_and_be_on(agents_dir: Path) -> None:
    post = make.post()
    write_agent(agents_dir, "off", "posts.bulk", extra="enabled: false")
    definitions.reload()
    body = {"ids": [str(post.pk)]}

    assert send("general-assistant", body, 403)["code"] == "agent_not_in_scope"
    assert send("off", body, 404)["code"] == "unknown_agent"
    assert send("nobody", body, 404)["code"] == "unknown_agent"
    assert AgentRun.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "ids"),
        ({"ids": ["x"] * 101}, "ids"),
        ({"ids": "x"}, "ids"),
        ({"ids": [1]}, "ids.0"),
        ({"ids": ["a\u0000"]}, "ids.0"),
        ({"ids": ["x"], "openEndedContext": "x" * 2001}, "openEndedContext"),
        ({"ids": ["x"], "openEndedContext": 1}, "openEndedContext"),
        ({"ids": ["x"], "context": {}}, "context"),
    ],
)
def test_hostile_bodies_are_refused_and_start_nothing(body: Any, key: str) -> None:
    answer = send("seo-specialist", body, 422)
    assert set(answer["details"]) == {key}
    assert AgentRun.objects.count() == 0


def test_an_agent_that_takes_no_words_refuses_them() -> None:
    body = {"ids": [str(make.post().pk)], "openEndedContext": "Hi"}
    assert set(send("proofreader", body, 422)["details"]) == {"openEndedContext"}
    assert AgentRun.objects.count() == 0
