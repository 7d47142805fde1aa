"""MCP tools and agents in threads: list, reply, resolve, and nothing else."""

from __future__ import annotations

import pytest

from content.models import Post
from mcp_bridge.access.principals import Principal
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, NotFound
from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.services import (
    change_comment,
    comment_on_post,
    delete_comment,
    reply_to_comment,
)
from tests import make
from tests.comments.talk import say, threads
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]
NOBODY = "00000000-0000-4000-8000-000000000000"


def test_a_client_lists_replies_and_resolves() -> None:
    post = make.post()
    before = make.live_hash()
    made = say(post, "Shorter", path="post.title", passage={"quote": "filter coffee"})
    say(post, "Later")

    listed = done("list_comments", post=str(post.pk), limit=1)
    rest = done("list_comments", post=str(post.pk), limit=1, cursor=listed["nextCursor"])
    added = done("reply_to_comment", commentId=made["id"], body="It is now shorter.")
    resolved = done("resolve_comment", commentId=added["id"])

    assert [item["body"] for item in listed["items"]] == ["Later"]
    assert "nextCursor" not in rest
    [item] = rest["items"]
    assert (item["id"], item["author"], item["path"]) == (made["id"], "editor", "post.title")
    assert (item["quote"], item["passageState"]) == ("filter coffee", "found")
    assert (added["threadId"], added["warnings"]) == (made["id"], [])
    assert resolved == {"id": made["id"], "status": "resolved"}
    thread = next(one for one in threads(post) if one["id"] == made["id"])
    assert thread["replies"][0]["author"]["username"] == "ai_agent"
    assert Comment.objects.get(pk=added["id"]).agent_id == "ai-agent"
    assert [
        one["body"] for one in done("list_comments", post=str(post.pk), status="open")["items"]
    ] == ["Later"]
    assert make.live_hash() == before


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("list_comments", {"post": NOBODY}, "not_found"),
        ("reply_to_comment", {"commentId": NOBODY, "body": "x"}, "not_found"),
        ("reply_to_comment", {"commentId": NOBODY, "body": ""}, "invalid_arguments"),
        ("resolve_comment", {"commentId": NOBODY}, "not_found"),
        ("resolve_comment", {"commentId": "x"}, "invalid_arguments"),
    ],
)
def test_what_is_refused(tool: str, arguments: dict[str, str], code: str) -> None:
    assert refused(tool, **arguments)[0] == code


def test_a_mention_by_a_client_starts_no_agent() -> None:
    made = say(make.post())

    added = done("reply_to_comment", commentId=made["id"], body="@agent:proofreader shorter")

    assert added["warnings"] == ["@agent:proofreader: Only people start agents by mentioning them."]


def test_a_client_sees_no_comment_outside_of_its_scope() -> None:
    post = make.post(type="page", slug="outside")
    made = say(post)
    limited = Principal(
        id="client:limited",
        user_id=make.user("ai_agent").pk,
        content_scope=ContentScope(types=frozenset({"blog"})),
    )

    assert refused("list_comments", limited, post=str(post.pk))[0] == "not_found"
    assert refused("reply_to_comment", limited, commentId=made["id"], body="x")[0] == "not_found"
    assert refused("resolve_comment", limited, commentId=made["id"])[0] == "not_found"
    assert Comment.objects.get().status == "open"


def test_a_translator_as_client_replies_too() -> None:
    made = say(make.post())

    assert (
        done("reply_to_comment", by("translator"), commentId=made["id"], body="Yes")["warnings"]
        == []
    )


@pytest.fixture
def thread() -> tuple[Post, Comment]:
    post = make.post()
    say(post)
    return post, Comment.objects.get()


def test_agents_start_no_threads_and_change_nothing_else(thread: tuple[Post, Comment]) -> None:
    post, comment = thread
    agent = make.agent_actor()
    reply = reply_to_comment(comment_id=comment.pk, body="Mine", actor=agent).comment

    for call in (
        lambda: comment_on_post(post_id=post.pk, body="New", actor=agent),
        lambda: change_comment(comment_id=comment.pk, assignee="editor", actor=agent),
        lambda: change_comment(comment_id=comment.pk, due_at=None, actor=agent),
        lambda: change_comment(comment_id=reply.pk, body="Other", actor=agent),
        lambda: delete_comment(comment_id=reply.pk, actor=agent),
    ):
        with pytest.raises(NotAllowed) as caught:
            call()
        assert caught.value.code == "person_required"
    assert Comment.objects.count() == 2


def test_a_limited_person_sees_and_writes_only_inside() -> None:
    inside, outside = make.post(), make.post(type="page", slug="outside")
    scope = ContentScope(types=frozenset({"blog"}))
    make.site_role("bloggers", "posts.view", "comments.view", "comments.write", scope=scope)
    made, hidden = say(inside), say(outside)
    actor = make.actor("bloggers")

    reply_to_comment(comment_id=made["id"], body="Yes", actor=actor)

    for id_ in (hidden["id"], NOBODY):
        with pytest.raises(NotFound, match="Comment not found"):
            reply_to_comment(comment_id=id_, body="No", actor=actor)
        with pytest.raises(NotFound, match="Comment not found"):
            change_comment(comment_id=id_, status="resolved", actor=actor)
        with pytest.raises(NotAllowed, match="other people’s comments"):
            delete_comment(comment_id=id_, actor=actor)
    with pytest.raises(NotFound):
        comment_on_post(post_id=outside.pk, body="No", actor=actor)


def test_who_only_reads_a_post_does_not_write_there() -> None:
    outside = make.post(type="page", slug="outside")
    scope = ContentScope(types=frozenset({"blog"}), reads_all=True)
    make.site_role("readers", "posts.view", "comments.view", "comments.write", scope=scope)
    made = say(outside)

    assert [one["id"] for one in threads(outside, by="readers")] == [made["id"]]
    with pytest.raises(NotAllowed) as caught:
        reply_to_comment(comment_id=made["id"], body="No", actor=make.actor("readers"))
    assert caught.value.code == "outside_of_scope"
