"""Reverting a run: its changes go, live and staged; later edits by people stay."""

from __future__ import annotations

import pytest

from agents_app.models import AgentRun
from content.layers import approve, digest_of, submit
from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def _run(post: Post | None) -> AgentRun:
    return AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", post=post, by_name="editor", via="api"
    )


def test_a_run_is_reverted_live_and_staged_but_for_what_people_changed() -> None:
    post = make.post()
    run = _run(post)
    agent, editor = make.agent_actor(run_id=str(run.pk)), make.actor("editor")
    make.staged(post, {"metaTitle": "Of the run", "excerpt": "Of the run"}, by=agent)
    submit(post_id=post.pk, actor=agent)
    approve(post_id=post.pk, actor=editor, digest=digest_of(make.layers(post).review.changes))
    edit_post(
        post_id=post.pk,
        actor=editor,
        edit=lambda document: document_edits.patch_fields(document, {"excerpt": "A person's"}),
    )
    make.staged(post, {"metaDescription": "Waits"}, by=agent)
    api, url = ApiClient("editor"), f"/api/agent-runs/{run.pk}/revert"

    answer = api.write("POST", url)

    assert answer == {
        "runId": str(run.pk),
        "reverted": ["post.metaTitle"],
        "kept": ["post.excerpt"],
        "unstaged": ["post.metaDescription"],
        "posts": [
            {
                "postId": str(post.pk),
                "reverted": ["post.metaTitle"],
                "kept": ["post.excerpt"],
                "unstaged": ["post.metaDescription"],
            }
        ],
        "deletedPosts": [],
    }
    taken_back = api.read(f"/api/agent-runs/{run.pk}")["revertedAt"]
    assert taken_back is not None
    live = make.layers(post).live.fields
    assert (live["metaTitle"], live["excerpt"]) == (None, "A person's")
    assert make.layers(post).ai_review.changes.paths == ()


def test_where_there_is_nothing_to_revert_it_says_so() -> None:
    post = make.post()
    before = make.live_hash()

    for run in (_run(post), _run(None)):
        answer = ApiClient("editor").write("POST", f"/api/agent-runs/{run.pk}/revert", expect=422)
        assert answer["code"] == "nothing_to_revert"
    assert make.live_hash() == before
