"""The pages that draw causes and effects, and the result on the page of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from agents_app.models import AgentRun, RunPost
from agents_app.runs.causes import Cause, causes_of_post, causes_of_run
from content.models import Post
from proofroom.core.content_scope import ContentScope
from tests import make
from tests.agents.environment import set_env, write_agent
from tests.agents.reactions import ended, tool, write_reacting
from tests.conftest import RunOnCommit
from tests.fake_provider import Reply, serving
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def outline(trees: list[Cause]) -> list[Any]:
    """Return the names in the trees, each followed by the list of what it caused."""
    found: list[Any] = []
    for one in trees:
        name = (
            one.run.agent_id
            if one.run
            else one.event.name
            if one.event
            else f"reaction {one.reaction and one.reaction.target}"
        )
        found.append((name, outline(one.effects)))
    return found


@pytest.fixture
def pinged(agents_dir: Path, run_on_commit: RunOnCommit, settings: Any) -> Post:
    """Publish a post that starts a chain of two agents."""
    write_agent(agents_dir, "ping", "post.publish")
    write_agent(agents_dir, "pong", "post.ai-review.save")
    replies = [Reply({"post": {"metaTitle": f"Title {number}"}}) for number in range(4)]
    with serving(*replies) as fake:
        set_env(settings, ai_provider_ollama_base_url=fake.openai_url, cms_agents_dir=agents_dir)
        with run_on_commit():
            post = make.post()
    return post


def test_a_chain_is_a_tree_from_the_event_to_the_last_effect(pinged: Post) -> None:
    run = AgentRun.objects.get(agent_id="pong")

    trees = causes_of_run(run, make.actor("editor"))

    pong: Any = ("post.ai-review.save", [("pong", [("post.ai-review.save", [])])])
    assert outline(trees) == [("post.publish", [("ping", [pong])])]
    assert outline(causes_of_post(pinged, make.actor("editor"))) == outline(trees)
    assert outline(causes_of_post(make.post("Another"), make.actor("editor"))) == []


def test_reactions_and_the_runs_they_start_belong_to_their_run(
    agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_agent(agents_dir, "quiet", "dropdown")
    call = tool("run_agent", agentId="quiet", postId="{{data.postId}}")
    write_reacting(agents_dir, call)
    with run_on_commit():
        first = ended()

    (tree,) = causes_of_run(first, make.actor("editor"))

    names = {name for name, _ in outline(tree.effects)}
    assert {"quiet", "reaction run_agent"} <= names
    assert tree.run == first


def test_as_many_statements_for_many_runs(agents_dir: Path, run_on_commit: RunOnCommit) -> None:
    post, editor = make.post(), make.actor("editor")
    write_reacting(agents_dir)
    ended(post=post)
    once = count_queries(causes_of_post, post, editor)
    for _ in range(8):
        ended(post=post)
    assert count_queries(causes_of_post, post, editor) == once <= 12


def test_what_a_limited_person_may_not_see_is_left_out() -> None:
    hidden, seen = make.post("Hidden", locale="de"), make.post("Seen")
    write = {"agent_id": "seo-specialist", "scope": "dropdown", "by_name": "admin", "via": "api"}
    first = AgentRun.objects.create(post=hidden, **write)
    second = AgentRun.objects.create(post=seen, cause_run=first, hop=1, **write)
    english = ContentScope(locales=frozenset({"en"}))
    actor = replace(make.actor("editor"), limited_to=(english,))

    assert [one.run for one in causes_of_run(second, make.actor("admin"))] == [first]
    assert [one.run for one in causes_of_run(second, actor)] == [second]


def test_the_pages_are_reached_from_the_run_and_the_history(
    pinged: Post, signed_in: SignedIn
) -> None:
    run, browser = AgentRun.objects.get(agent_id="pong"), signed_in("editor")
    of_run = f"/admin/agents_app/agentrun/{run.pk}/causes/"
    of_post = f"/admin/agents_app/agentrun/causes/{pinged.pk}/"

    assert of_run in browser.get(of_run.replace("causes", "change")).content.decode()
    revisions = f"/admin/content/post/{pinged.pk}/revisions/"
    assert of_post in browser.get(revisions).content.decode()
    tree = browser.get(of_run).content.decode()
    assert "(this run)" in tree
    assert tree.index("Publishing") < tree.index("ping") < tree.index("Proposed in AI Review")
    assert "Proposed in AI Review" in browser.get(of_post).content.decode()
    assert signed_in("translator").get(of_post).status_code == 403


@pytest.mark.parametrize("in_dialog", [False, True])
def test_a_run_that_drafted_a_post_links_to_it(signed_in: SignedIn, in_dialog: bool) -> None:
    drafted, other = make.post("Drafted by an agent"), make.post("Another post")
    run = ended(post=None, agent_id="seo-specialist", scope="global")
    RunPost.objects.create(run=run, post=drafted, is_made=True)
    RunPost.objects.create(run=run, post=other, paths=["excerpt"])
    headers = {"HTTP_X_DIALOG": "1"} if in_dialog else {}

    html = signed_in().get(f"/admin/agents_app/agentrun/{run.pk}/change/", **headers)

    shown = html.content.decode()
    assert "New post proposed:" in shown
    assert f"/admin/content/post/{drafted.pk}/change/" in shown
    assert f"/admin/content/post/{other.pk}/review/?layer=ai-review&amp;run={run.pk}" in shown
    Post.objects.filter(pk=drafted.pk).update(deleted_at=run.created_at)
    again = signed_in().get(f"/admin/agents_app/agentrun/{run.pk}/change/", **headers)
    assert f"/admin/content/post/{drafted.pk}/change/" not in again.content.decode()
    assert "in the trash" in again.content.decode()


@pytest.mark.parametrize("in_dialog", [False, True])
def test_declined_and_empty_runs_say_so(signed_in: SignedIn, in_dialog: bool) -> None:
    headers = {"HTTP_X_DIALOG": "1"} if in_dialog else {}
    declined = ended(agent_id="seo-specialist", declined="Nothing to do here.")
    empty = ended(agent_id="seo-specialist", post=None, scope="global")

    def html_of(run: AgentRun) -> str:
        page = signed_in().get(f"/admin/agents_app/agentrun/{run.pk}/change/", **headers)
        return page.content.decode()

    assert "Nothing to do here." in html_of(declined)
    assert "No changes proposed." not in html_of(declined)
    assert "No changes proposed." in html_of(empty)
