"""Threads of comments on posts and files: place, replies, state, deletion."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.models import Layer, Post
from content.posts.trash import delete_post
from proofroom.core.models import Event
from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.passages import follow
from tests import make
from tests.api_client import ApiClient
from tests.comments.talk import on, refuse, say, threads
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
KEYS = {
    "id", "postId", "path", "passage", "passageState", "changePath", "body", "author", "status",
    "assignee", "dueAt", "parentId", "replies", "warnings", "createdAt",
}  # fmt: skip


def prose(post: Post) -> tuple[str, str]:
    """Return the prose module of a post, and the path of its text."""
    id_ = make.module_id(post, "prose")
    return id_, f"modules.{id_}.props.content"


def follow_all() -> None:
    follow(list(Event.objects.filter(name__startswith="post.").order_by("pk")))


def test_a_thread_with_a_reply() -> None:
    post = make.post()
    before = make.live_hash()

    made = say(post, " Two\r\nlines ", path="post.title")
    reply = say(post, "Done", by="translator", parentId=made["id"])

    author = make.user("editor")
    assert set(made) == KEYS
    assert {name: value for name, value in made.items() if name not in ("id", "createdAt")} == {
        "postId": str(post.pk),
        "path": "post.title",
        "passage": None,
        "passageState": None,
        "changePath": None,
        "body": "Two\nlines",
        "author": {"id": author.pk, "username": "editor"},
        "status": "open",
        "assignee": None,
        "dueAt": None,
        "parentId": None,
        "replies": [],
        "warnings": [],
    }
    assert (reply["parentId"], reply["path"], reply["replies"]) == (made["id"], "post.title", [])
    assert threads(post) == [{**made, "replies": [reply]}]
    assert make.live_hash() == before
    names = (
        Event.objects.filter(name__startswith="comment.")
        .order_by("pk")
        .values_list("name", "post_id")
    )
    assert list(names) == [("comment.created", post.pk)] * 2


def test_a_reply_to_a_reply_belongs_to_the_thread() -> None:
    post = make.post()
    made = say(post)
    reply = say(post, "Why?", parentId=made["id"])

    other = say(post, "Too long", parentId=reply["id"])

    assert other["parentId"] == made["id"]
    assert [one["body"] for one in threads(post)[0]["replies"]] == ["Why?", "Too long"]


def test_the_list_is_filtered_newest_first() -> None:
    post, elsewhere = make.post(), make.post(slug="other")
    old, new = say(post, "Old", path="post.title"), say(post, "New")
    say(elsewhere, "Elsewhere")
    ApiClient("editor").write("PATCH", f"/api/comments/{old['id']}", {"status": "resolved"})

    assert [one["body"] for one in threads(post)] == ["New", "Old"]
    assert [one["id"] for one in threads(post, "?status=open")] == [new["id"]]
    assert [one["id"] for one in threads(post, "?status=resolved")] == [old["id"]]
    assert [one["id"] for one in threads(post, "?path=post.title")] == [old["id"]]
    client = ApiClient("editor")
    assert client.read(f"{on(post)}?per_page=1")["meta"]["total"] == 2
    assert client.read(f"{on(post)}?status=done", expect=422)["details"].keys() == {"status"}
    assert client.read(f"{on(post)}?statsu=open", expect=422)["details"].keys() == {"statsu"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"body": "  "}, "body"),
        ({"body": "x" * 5001}, "body"),
        ({"body": "a\x07b"}, "body"),
        ({"body": "a\x00b"}, "body"),
        ({"body": None}, "body"),
        ({"body": 3}, "body"),
        ({"path": "post.nothing"}, "path"),
        ({"path": "modules.nothing.props.title"}, "path"),
        ({"path": "__class__"}, "path"),
        ({"path": "post.title", "passage": {"quote": "not there"}}, "passage"),
        ({"path": "post.title", "passage": {"quote": " "}}, "passage.quote"),
        ({"path": "post.title", "passage": {"quote": "x" * 1001}}, "passage.quote"),
        ({"path": "post.title", "passage": {}}, "passage.quote"),
        ({"passage": {"quote": "How"}}, "passage"),
        ({"changePath": "post.title"}, "changePath"),
        ({"parentId": "x"}, "parentId"),
        ({"parentId": "00000000-0000-4000-8000-000000000000"}, "parentId"),
        ({"assignee": "nobody"}, "assignee"),
        ({"assignee": 999_999_999_999}, "assignee"),
        ({"assignee": True}, "assignee"),
        ({"assignee": "seo-specialist"}, "assignee"),
        ({"dueAt": "2001-01-01T09:00:00Z"}, "dueAt"),
        ({"dueAt": "tomorrow"}, "dueAt"),
        ({"dueAt": 4}, "dueAt"),
        ({"status": "open", "colour": "red"}, "colour"),
    ],
)
def test_what_is_refused(body: dict[str, Any], field: str) -> None:
    make.agent_actor()
    post = make.post()

    error = refuse(post, **body)

    assert list(error["details"]) == [field]
    assert not Comment.objects.exists()
    assert not Event.objects.filter(name__startswith="comment.").exists()


def test_a_parent_of_another_post_is_unknown() -> None:
    post, other = make.post(), make.post(slug="other")
    made = say(other)

    error = refuse(post, parentId=made["id"])

    assert (error["code"], list(error["details"])) == ("unknown_comment", ["parentId"])


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"path": "post.title"}, "path"),
        ({"changePath": "post.title"}, "changePath"),
        ({"passage": {"quote": "How"}}, "passage"),
        ({"assignee": "editor"}, "assignee"),
        ({"dueAt": "2099-01-01T09:00:00Z"}, "dueAt"),
    ],
)
def test_a_reply_has_no_place_and_no_state(values: dict[str, Any], field: str) -> None:
    post = make.post()
    made = say(post)

    error = refuse(post, parentId=made["id"], **values)

    assert list(error["details"]) == [field]
    assert Comment.objects.count() == 1


def test_a_passage_is_followed_through_edits() -> None:
    post = make.post(markdown="Grind the beans.\n\nPour the water slowly over all of the coffee.")
    id_, path = prose(post)

    made = say(post, path=path, passage={"quote": "the water\nslowly"})
    assert (made["passage"]["quote"], made["passageState"]) == ("the water slowly", "found")
    # Two edits that each leave one half.
    for words in ("the water gently", "a little water gently"):
        text = f"Grind the beans.\n\nPour {words} over all of the coffee."
        make.changed_module(post, id_, content_markdown=text)
        follow_all()

    found = threads(post)[0]
    assert (found["passage"]["quote"], found["passageState"]) == ("a little water gently", "found")

    make.changed_module(post, id_, content_markdown="Something else.")
    follow_all()
    removed = threads(post)[0]
    assert (removed["passageState"], removed["body"]) == ("removed", "Shorter, please")
    assert removed["passage"]["quote"] == "a little water gently"


def test_a_passage_of_a_proposal_stays_through_the_approval() -> None:
    post = make.post()
    make.staged(post, {"excerpt": "Fresh water makes good coffee"}, layer=Layer.REVIEW)

    made = say(post, changePath="post.excerpt", passage={"quote": "good coffee"})
    assert (made["path"], made["changePath"]) == ("post.excerpt", "post.excerpt")
    assert made["passageState"] == "found"
    client = ApiClient("editor")
    digest = client.read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]
    client.write("POST", f"/api/posts/{post.pk}/review/approve", {"digest": digest})
    follow_all()

    found = threads(post)[0]
    assert (found["passageState"], found["changePath"]) == ("found", "post.excerpt")


def test_a_rejected_proposal_keeps_its_thread() -> None:
    post = make.post()
    make.staged(post, {"excerpt": "Fresh water makes good coffee"}, layer=Layer.REVIEW)
    say(post, changePath="post.excerpt", passage={"quote": "good coffee"})

    ApiClient("editor").write("POST", f"/api/posts/{post.pk}/review/reject", {})

    found = threads(post)[0]
    assert (found["passageState"], found["passage"]["quote"]) == ("removed", "good coffee")


def test_a_thread_is_resolved_and_reopened() -> None:
    post = make.post()
    made = say(post)
    reply = say(post, "Done", parentId=made["id"])
    client = ApiClient("translator")

    done = client.write("PATCH", f"/api/comments/{made['id']}", {"status": "resolved"})

    assert done["status"] == "resolved"
    assert [one["status"] for one in threads(post)[0]["replies"]] == ["resolved"]
    row = Comment.objects.get(pk=made["id"])
    assert (row.resolved_by, row.resolved_at is None) == (make.user("translator"), False)
    of_reply = client.write("PATCH", f"/api/comments/{reply['id']}", {"status": "open"}, expect=422)
    assert list(of_reply["details"]) == ["status"]
    client.write("PATCH", f"/api/comments/{made['id']}", {"status": "open"})
    row.refresh_from_db()
    assert (row.status, row.resolved_by_id, row.resolved_at) == ("open", None, None)
    names = Event.objects.filter(name__startswith="comment.re").order_by("pk")
    assert [event.name for event in names] == ["comment.resolved", "comment.reopened"]


def test_what_was_read_can_be_sent_back() -> None:
    post = make.post()
    due = (timezone.now() + timedelta(days=1)).isoformat()
    make.user("translator")
    made = say(post, assignee="translator", dueAt=due, path="post.title")
    reply = say(post, "Done", parentId=made["id"])
    events = Event.objects.count()

    client = ApiClient("editor")
    assert client.write("PATCH", f"/api/comments/{made['id']}", made)["body"] == made["body"]
    assert client.write("PATCH", f"/api/comments/{reply['id']}", reply) == reply

    assert Event.objects.count() == events


def test_a_thread_is_assigned_with_a_due_date() -> None:
    post = make.post()
    made = say(post)
    address, client = f"/api/comments/{made['id']}", ApiClient("editor")
    person = make.user("translator")
    due = "2099-01-02T09:00:00Z"

    for given in ("translator", person.pk, {"id": person.pk, "username": "translator"}):
        answer = client.write("PATCH", address, {"assignee": given, "dueAt": due})
        assert answer["assignee"] == {"id": person.pk, "username": "translator"}
        assert answer["dueAt"] == "2099-01-02T09:00:00.000Z"
    answer = client.write("PATCH", address, {"assignee": None, "dueAt": None})
    assert (answer["assignee"], answer["dueAt"]) == (None, None)
    error = client.write("PATCH", address, {"dueAt": "2001-01-01T00:00:00Z"}, expect=422)
    assert list(error["details"]) == ["dueAt"]


def test_only_its_author_changes_the_words() -> None:
    post = make.post()
    made = say(post, by="translator")
    address = f"/api/comments/{made['id']}"

    error = ApiClient("admin").write("PATCH", address, {"body": "Mine"}, expect=403)
    answer = ApiClient("translator").write("PATCH", address, {"body": "Better"})

    assert error["code"] == "not_the_author"
    assert answer["body"] == "Better"
    assert Comment.objects.get().edited_at is not None


def test_deletion_by_author_and_by_editors() -> None:
    post = make.post()
    mine, answered = say(post, by="translator"), say(post, by="translator")
    theirs = say(post)
    say(post, "Done", parentId=answered["id"])
    client = ApiClient("translator")

    assert client.write("DELETE", f"/api/comments/{mine['id']}") == {"id": mine["id"]}
    # Others' words in the thread would go with it.
    for id_ in (answered["id"], theirs["id"]):
        assert (
            client.write("DELETE", f"/api/comments/{id_}", expect=403)["code"] == "not_the_author"
        )
    assert Comment.objects.count() == 3
    ApiClient("editor").write("DELETE", f"/api/comments/{answered['id']}")
    assert [row["id"] for row in threads(post)] == [theirs["id"]]
    assert Event.objects.filter(name="comment.deleted").count() == 2


def test_comments_of_a_deleted_post_are_hidden() -> None:
    post = make.post()
    made = say(post)
    delete_post(post_id=post.pk, actor=make.actor())
    client = ApiClient("editor")

    assert client.get(on(post)).status_code == 404
    assert client.send("PATCH", f"/api/comments/{made['id']}", {}).status_code == 404
    assert client.send("DELETE", f"/api/comments/{made['id']}").status_code == 404
    assert Comment.objects.count() == 1


def test_comments_on_a_file() -> None:
    asset = make.image()

    made = say(asset, "Too dark", assignee="editor")
    reply = say(asset, "Replaced", by="translator", parentId=made["id"])

    assert set(made) == KEYS
    assert (made["postId"], made["path"], made["passageState"]) == (None, None, None)
    assert threads(asset) == [{**made, "replies": [reply]}]
    for values in (
        {"path": "post.title"},
        {"passage": {"quote": "x"}},
        {"changePath": "post.title"},
    ):
        assert list(refuse(asset, **values)["details"]) == list(values)
    post = make.post()
    assert list(refuse(post, parentId=made["id"])["details"]) == ["parentId"]


def test_the_list_needs_the_same_number_of_queries_for_many_threads() -> None:
    post = make.post()
    path = prose(post)[1]
    for number in range(2):
        made = say(post, f"{number}", path=path, passage={"quote": "Pour the water"})
        say(post, "Done", parentId=made["id"])
    client = ApiClient("editor")
    client.read(on(post))
    few = count_queries(client.read, on(post))
    for number in range(6):
        made = say(post, f"{number}", path=path, passage={"quote": "Grind the beans"})
        say(post, "Done", by="translator", parentId=made["id"])

    assert count_queries(client.read, on(post)) == few


def test_no_comment_reaches_visitors() -> None:
    canary = "canary-7c1f"
    post = make.post(slug="canary-post")
    path = prose(post)[1]
    say(post, canary, path=path, passage={"quote": "Pour the water"})
    say(make.image(), canary)
    post.refresh_from_db()
    visitor = ApiClient()

    for address in (
        str(post.path),
        f"/en{post.path}",
        f"/api/public/posts/{post.pk}",
        "/api/public/posts?include=media",
        f"/api/public/resolve?path={post.path}",
        "/api/public/changes?since=2020-01-01T00:00:00Z",
        "/sitemap.xml",
        "/llms.txt",
    ):
        response = visitor.get(address, follow=True)
        parts = getattr(response, "streaming_content", None) or [response.content]
        assert canary.encode() not in b"".join(parts), address
    assert visitor.get(on(post)).status_code == 401
    exported = ApiClient("admin").get(f"/api/posts/{post.pk}/export").content
    assert canary.encode() not in exported
