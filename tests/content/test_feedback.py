"""Feedback: created, sorted, resolved, deleted; permissions by author."""

from __future__ import annotations

from typing import Any

import pytest

from content.posts.trash import delete_post
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from proofroom_apps.feedback.models import Feedback
from proofroom_apps.feedback.services import change_feedback, create_feedback, delete_feedback
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
URL = "/api/feedbacks"


def stored() -> tuple[list[Any], int]:
    rows = list(Feedback.objects.order_by("pk").values())
    return rows, Event.objects.filter(name__startswith="feedback.").count()


def give(role: str = "translator", **body: Any) -> dict[str, Any]:
    given = {"content": "A typo", **body}
    answer: dict[str, Any] = ApiClient(role).write("POST", URL, given, expect=201)
    return answer


def test_feedback_is_given_and_listed() -> None:
    post = make.post()
    before = make.live_hash()

    made = give(
        postId=str(post.pk),
        category="bug",
        content=" Two\r\nlines ",
        x=12,
        y=34.5,
        elementSelector="main > h1",
    )

    author = make.user("translator")
    assert {name: made[name] for name in made if name not in ("id", "createdAt")} == {
        "postId": str(post.pk),
        "category": "bug",
        "content": "Two\nlines",
        "x": 12.0,
        "y": 34.5,
        "elementSelector": "main > h1",
        "status": "pending",
        "author": {"id": author.pk, "username": "translator"},
        "resolvedBy": None,
        "resolvedAt": None,
    }
    assert ApiClient("editor").read(URL)["data"] == [made]
    event = Event.objects.get(name="feedback.created")
    assert (event.post_id, event.payload) == (
        post.pk,
        {"id": made["id"], "category": "bug", "status": "pending"},
    )
    assert make.live_hash() == before


def test_only_the_words_and_the_post_are_needed() -> None:
    made = give(postId=str(make.post().pk))

    assert (made["category"], made["x"], made["y"], made["elementSelector"]) == (
        "comment",
        None,
        None,
        "",
    )


def test_the_list_is_filtered_newest_first() -> None:
    one, other = make.post(), make.post(slug="other")
    first = give(postId=str(one.pk), category="bug")
    second = give(postId=str(one.pk))
    third = give(postId=str(other.pk), category="bug")
    editor = ApiClient("editor")
    editor.write("PATCH", f"{URL}/{second['id']}", {"status": "resolved"})

    def ids(query: str) -> list[str]:
        return [row["id"] for row in editor.read(f"{URL}?{query}")["data"]]

    assert ids("") == [third["id"], second["id"], first["id"]]
    assert ids(f"postId={one.pk}") == [second["id"], first["id"]]
    assert ids("status=pending&category=bug") == [third["id"], first["id"]]
    assert ids("status=resolved") == [second["id"]]
    assert ids("postId=00000000-0000-4000-8000-000000000000") == []
    for query in (
        "author__password__startswith=a",
        "status=open",
        "category=x",
        "postId=",
        "postId=a%00",
        "status=",
    ):
        assert query.partition("=")[0] in editor.read(f"{URL}?{query}", expect=422)["details"]


def test_feedback_is_resolved_and_opened_again() -> None:
    made = give(postId=str(make.post().pk))
    editor = ApiClient("editor")

    resolved = editor.write("PATCH", f"{URL}/{made['id']}", {"status": "resolved"})
    again = editor.write("PATCH", f"{URL}/{made['id']}", {"status": "resolved"})
    opened = editor.write("PATCH", f"{URL}/{made['id']}", {"status": "pending"})

    assert resolved["resolvedBy"] == {"id": make.user("editor").pk, "username": "editor"}
    assert resolved["resolvedAt"].endswith("Z")
    assert again == resolved
    assert opened == made
    assert Event.objects.filter(name="feedback.changed").count() == 2


def test_what_was_read_can_be_put_back() -> None:
    made = give(postId=str(make.post().pk))
    before = stored()

    assert ApiClient("editor").write("PATCH", f"{URL}/{made['id']}", made) == made
    assert stored() == before


def test_threat_14_words_are_changed_by_their_author_only() -> None:
    made = give(postId=str(make.post().pk))
    before = stored()

    for role in ("admin", "editor"):
        answer = ApiClient(role).write(
            "PATCH", f"{URL}/{made['id']}", {"content": "x", "status": "resolved"}, expect=403
        )
        assert answer["code"] == "not_the_author"
    assert stored() == before
    own = ApiClient("translator").write("PATCH", f"{URL}/{made['id']}", {"content": "Mine"})
    assert own["content"] == "Mine"
    sorted_ = ApiClient("editor").write("PATCH", f"{URL}/{made['id']}", {"category": "copy"})
    assert (sorted_["category"], sorted_["content"]) == ("copy", "Mine")


def test_threat_14_the_author_is_who_calls_and_nobody_else() -> None:
    body = {"postId": str(make.post().pk), "content": "x"}
    body["author"] = {"id": make.user("admin").pk, "username": "admin"}  # type: ignore[assignment]  # sent by a forger

    made = ApiClient("translator").write("POST", URL, body, expect=201)

    assert made["author"]["username"] == "translator"


def test_feedback_is_deleted_for_good() -> None:
    made, kept = (give(postId=str(make.post(slug=slug).pk)) for slug in ("a", "b"))

    answer = ApiClient("editor").write("DELETE", f"{URL}/{made['id']}")

    assert answer == {"id": made["id"]}
    assert [str(row.pk) for row in Feedback.objects.all()] == [kept["id"]]
    assert Event.objects.get(name="feedback.deleted").payload["id"] == made["id"]


def test_threat_06_feedback_on_a_post_in_the_trash_is_not_there() -> None:
    post = make.post()
    made = give(postId=str(post.pk))
    delete_post(post_id=post.pk, actor=make.actor("admin"))
    before = stored()
    editor = ApiClient("editor")

    assert editor.read(URL)["meta"]["total"] == 0
    assert editor.read(f"{URL}?postId={post.pk}")["data"] == []
    editor.write("PATCH", f"{URL}/{made['id']}", {"status": "resolved"}, expect=404)
    editor.write("DELETE", f"{URL}/{made['id']}", expect=404)
    refused = editor.write("POST", URL, {"postId": str(post.pk), "content": "x"}, expect=422)
    absent = editor.write(
        "POST",
        URL,
        {"postId": "00000000-0000-4000-8000-000000000000", "content": "x"},
        expect=422,
    )
    assert refused == absent
    assert stored() == before


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"postId": None}, "postId"),
        ({"postId": 5}, "postId"),
        ({"postId": "x"}, "postId"),
        ({"content": ""}, "content"),
        ({"content": " \n "}, "content"),
        ({"content": "x" * 5001}, "content"),
        ({"content": "x" * 1_000_000}, "content"),
        ({"content": "nul\x00"}, "content"),
        ({"content": "bell\x07"}, "content"),
        ({"content": ["x"]}, "content"),
        ({"category": "praise"}, "category"),
        ({"category": 1}, "category"),
        ({"x": -1}, "x"),
        ({"x": True}, "x"),
        ({"x": "1"}, "x"),
        ({"x": 1_000_001}, "x"),
        ({"y": 2**53}, "y"),
        ({"y": 10**40}, "y"),
        ({"y": [1]}, "y"),
        ({"elementSelector": "x" * 501}, "elementSelector"),
        ({"elementSelector": "a\nb"}, "elementSelector"),
        ({"elementSelector": None}, "elementSelector"),
        ({"nonsense": 1}, "nonsense"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_does_not_fit_is_refused_by_name(change: dict[str, Any], key: str) -> None:
    body = {"postId": str(make.post().pk), "content": "A typo", **change}

    answer = ApiClient("editor").write("POST", URL, body, expect=422)

    assert set(answer["details"]) == {key}
    assert stored() == ([], 0)


@pytest.mark.parametrize(
    "body",
    [
        {"status": 1},
        {"content": ""},
        {"category": "x"},
        {"posts": 1},
        {"content": None},
    ],
)
def test_a_change_that_does_not_fit_is_refused(body: dict[str, Any]) -> None:
    made = give(postId=str(make.post().pk))
    before = stored()

    answer = ApiClient("translator").write("PATCH", f"{URL}/{made['id']}", body, expect=422)

    assert set(answer["details"]) == set(body)
    assert stored() == before


def test_agents_and_their_clients_give_no_feedback() -> None:
    post = make.post()
    row = create_feedback(post_id=str(post.pk), content="x", actor=make.actor("editor"))
    before = stored()

    for actor in (make.agent_actor(), make.mcp_actor("admin")):
        for write in (
            lambda actor=actor: create_feedback(post_id=str(post.pk), content="x", actor=actor),
            lambda actor=actor: change_feedback(feedback_id=row.pk, status="resolved", actor=actor),
            lambda actor=actor: delete_feedback(feedback_id=row.pk, actor=actor),
        ):
            with pytest.raises(NotAllowed):
                write()
    assert stored() == before


def test_who_may_not_read_feedback_is_not_shown_it_by_changing_nothing() -> None:
    made = give(postId=str(make.post().pk))
    _, secret = token_of(make.user("editor"), "feedback.create", "feedback.resolve", "posts.view")
    before = stored()

    for body in ({}, {"status": "pending"}, {"content": "A typo"}):
        answer = program(secret).write("PATCH", f"{URL}/{made['id']}", body, expect=403)
        assert answer["details"] == {"permission": ["feedback.view"]}
    assert stored() == before
