"""Changes staged by a run's tools are reverted with it; proposals of people and other runs stay unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents_app.models import AgentRun, RunPost
from agents_app.runs.creation import create_run
from agents_app.runs.execution import RunToolbox, prepare_attempt
from agents_app.runs.undo import take_back, undo_run
from content.document.document import PostDocument
from content.layers import submit
from content.models import Draft, Layer, Post
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from tests import make
from tests.agents.tooling import claimed, toolbox, tooled
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


@pytest.fixture
def writer(agents_dir: Path) -> str:
    tooled(agents_dir, "writer")
    return "writer"


def _other_run(post: Post) -> Actor:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", post=post, by_name="editor", via="api"
    )
    return make.agent_actor(run_id=str(run.pk))


def _staged(post: Post) -> tuple[dict[str, str], PostDocument]:
    """Return the run of each staged path, and the document."""
    view = make.layers(post).ai_review
    return {path: mark.run_id for path, mark in view.marks.items()}, view.document


def test_nothing_of_the_run_stays(writer: str) -> None:
    post = make.post()
    live = make.live_hash()
    box, run = toolbox(writer, post)
    prose = make.module_id(post, "prose")
    for name, arguments in (
        ("save_post_ai_review", {"postId": str(post.pk), "patch": {"title": "T", "excerpt": "E"}}),
        ("update_post_module_ai_review", {"postModuleId": prose, "contentMarkdown": "New text"}),
        ("add_module_to_post_ai_review", {"postId": str(post.pk), "moduleType": "callout"}),
        ("remove_post_module_ai_review", {"postModuleId": make.module_id(post, "faq")}),
    ):
        assert box.call(name, arguments).ok, name
    assert len(make.layers(post).ai_review.changes) == 5

    take_back(run)
    take_back(run)

    assert not make.layers(post).ai_review.exists
    assert make.live_hash() == live
    assert not RunPost.objects.exists()
    told = Event.objects.get(name="post.ai-review.withdraw")
    assert (told.post_id, told.run_id, told.via) == (post.pk, str(run.pk), "system")
    assert set(told.payload["paths"]) >= {"post.title", "post.excerpt"}


def test_what_others_had_staged_comes_back_where_the_run_wrote_over_it(writer: str) -> None:
    post = make.post()
    other = _other_run(post)
    make.staged(post, {"title": "Of another run", "excerpt": "Of another run"}, by=other)
    before = _staged(post)
    box, run = toolbox(writer, post)
    patch = {"title": "Mine", "metaTitle": "Mine"}
    assert box.call("save_post_ai_review", {"postId": str(post.pk), "patch": patch}).ok

    take_back(run)

    assert _staged(post) == before


def test_a_module_that_another_run_added_comes_back_as_it_was(writer: str) -> None:
    post = make.post()
    box, first = toolbox(writer, post)
    added = box.call(
        "add_module_to_post_ai_review",
        {"postId": str(post.pk), "moduleType": "callout", "props": {"title": "Theirs"}},
    )
    assert added.ok
    callout = make.layers(post).ai_review.document.modules[-1].id
    before = _staged(post)
    box, changing = toolbox(writer, post)
    assert box.call(
        "update_post_module_ai_review", {"postModuleId": callout, "props": {"title": "Mine"}}
    ).ok
    take_back(changing)
    assert _staged(post) == before

    box, removing = toolbox(writer, post)
    assert box.call("remove_post_module_ai_review", {"postModuleId": callout}).ok
    assert make.layers(post).ai_review.document.module(callout) is None
    take_back(removing)

    assert _staged(post) == before
    assert first.posts.count() == 1


def test_what_people_and_other_runs_did_since_stays(writer: str) -> None:
    post = make.post()
    box, run = toolbox(writer, post)
    patch = {"title": "Mine", "excerpt": "Mine", "metaTitle": "Mine"}
    assert box.call("save_post_ai_review", {"postId": str(post.pk), "patch": patch}).ok
    make.staged(post, {"excerpt": "A person's"}, by=make.actor("editor"))
    make.staged(post, {"metaTitle": "Of another run"}, by=_other_run(post))

    take_back(run)

    fields = make.layers(post).ai_review
    assert set(fields.changes.paths) == {"post.excerpt", "post.metaTitle"}
    assert fields.document.fields["excerpt"] == "A person's"
    assert fields.document.fields["metaTitle"] == "Of another run"


def test_a_value_below_that_moved_meanwhile_is_not_staged_back(writer: str) -> None:
    post = make.post()
    make.staged(post, {"excerpt": "Of another run"}, by=_other_run(post))
    box, run = toolbox(writer, post)
    patch = {"title": "Mine", "excerpt": "Mine"}
    assert box.call("save_post_ai_review", {"postId": str(post.pk), "patch": patch}).ok
    make.staged(post, {"title": "A person's"}, layer=Layer.REVIEW)

    take_back(run)

    view = make.layers(post).ai_review
    assert view.changes.paths == ("post.excerpt",)
    assert view.document.fields["title"] == "A person's"
    assert view.document.fields["excerpt"] == "Of another run"


def test_a_post_created_by_the_run_is_trashed_unless_edited(writer: str) -> None:
    box, run = toolbox(writer)
    for title in ("One", "Two", "Three"):
        assert box.call("create_post_ai_review", {"type": "blog", "title": title}).ok
    posts = {
        make.layers(post).ai_review.document.fields["title"]: post for post in Post.objects.all()
    }
    make.staged(posts["Two"], {"excerpt": "A person's"}, by=make.actor("editor"))
    submit(post_id=posts["Three"].pk, actor=make.actor("editor"))

    take_back(run)

    alive = set(Post.objects.alive())
    assert alive == {posts["Two"], posts["Three"]}
    assert make.layers(posts["Two"]).ai_review.document.fields["title"] == "Two"
    assert make.layers(posts["Three"]).review.document.fields["title"] == "Three"


def test_the_answer_of_a_run_is_not_remembered_as_a_tools(writer: str) -> None:
    post = make.post()
    run = claimed(
        create_run(agent_id=writer, scope="dropdown", actor=make.actor(), post_id=post.pk)
    )
    make.staged(post, {"title": "Its answer"}, by=prepare_attempt(run).actor)

    assert not RunPost.objects.exists()


def test_a_second_attempt_begins_anew(writer: str) -> None:
    post = make.post()
    box, run = toolbox(writer, post)
    call = {"postId": str(post.pk), "patch": {"title": "First"}}
    assert box.call("save_post_ai_review", call).ok
    take_back(run)
    make.staged(post, {"title": "Of another run"}, by=_other_run(post))
    before = _staged(post)

    again = RunToolbox(prepare_attempt(claimed(run)))
    call = {"postId": str(post.pk), "patch": {"title": "Second"}}
    assert again.call("save_post_ai_review", call).ok
    take_back(run)

    assert _staged(post) == before


def test_reverting_a_run_reaches_every_post_that_it_wrote_in(writer: str) -> None:
    one, other = make.post(), make.post("Tea", slug="tea")
    box, run = toolbox(writer)
    for post in (one, other):
        patch = {"postId": str(post.pk), "patch": {"metaTitle": "Of the run"}}
        assert box.call("save_post_ai_review", patch).ok
    assert box.call("create_post_ai_review", {"type": "blog", "title": "New"}).ok
    made = Post.objects.exclude(pk__in=[one.pk, other.pk]).get()
    make.staged(other, {"excerpt": "Of another run"}, by=_other_run(other))

    answer = ApiClient("editor").write("POST", f"/api/agent-runs/{run.pk}/revert")

    assert answer["deletedPosts"] == [str(made.pk)]
    assert {item["postId"]: item["unstaged"] for item in answer["posts"]} == {
        str(one.pk): ["post.metaTitle"],
        str(other.pk): ["post.metaTitle"],
    }
    assert make.layers(other).ai_review.changes.paths == ("post.excerpt",)
    assert set(Post.objects.alive()) == {one, other}


def test_a_run_that_wrote_in_a_deleted_post_is_taken_back_all_the_same(writer: str) -> None:
    post = make.post()
    box, run = toolbox(writer)
    assert box.call(
        "save_post_ai_review", {"postId": str(post.pk), "patch": {"metaTitle": "Of the run"}}
    ).ok
    Post.objects.filter(pk=post.pk).update(deleted_at="2026-01-01T00:00Z")

    take_back(run)

    assert Draft.objects.get(layer="ai-review").is_empty is False
    with pytest.raises(Exception, match="no changes that can be undone"):
        undo_run(run_id=run.pk, actor=make.actor("editor"))
