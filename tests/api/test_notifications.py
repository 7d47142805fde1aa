"""`/api/notifications`: a person's own notifications."""

from __future__ import annotations

import pytest

from content.models import Layer, Post
from content.posts.trash import delete_post
from proofroom.accounts.models import User
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.services import add_notifications
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
LIST = "/api/notifications"
READ = "/api/notifications/read"


def stage(title: str) -> Post:
    post = make.post(title)
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW, by=make.actor("editor"))
    add_notifications(list(Event.objects.order_by("pk")))
    return post


def test_a_notification_has_exactly_these_keys() -> None:
    client = ApiClient("admin")
    post = stage("Coffee")

    answer = client.read(LIST)

    (row,) = answer["data"]
    stored = Notification.objects.get(user=make.user("admin"))
    assert row == {
        "id": stored.pk,
        "kind": "submission",
        "title": "Changes to “Coffee” are waiting in Review",
        "url": f"/admin/content/post/{post.pk}/review/?layer=review",
        "postId": str(post.pk),
        "readAt": None,
        "createdAt": row["createdAt"],
    }
    assert answer["meta"]["total"] == 1


def test_everybody_sees_their_own_only() -> None:
    make.user("admin")
    stage("Coffee")
    theirs = Notification.objects.get(user=make.user("admin"))

    editor = ApiClient("editor")

    assert editor.read(LIST)["data"] == []
    editor.write("POST", READ, {"ids": [theirs.pk]}, expect=422)
    theirs.refresh_from_db()
    assert theirs.read_at is None


def test_some_or_all_are_marked_as_read() -> None:
    client = ApiClient("admin")
    stage("Coffee")
    make.staged(make.post("Tea"), {"excerpt": "New"})
    add_notifications(list(Event.objects.order_by("pk")))
    first, second = client.read(LIST)["data"]

    assert client.write("POST", READ, {"ids": [second["id"]]}) == {"read": 1}
    assert client.write("POST", READ, {"ids": [second["id"]]}) == {"read": 0}
    found = {row["id"]: row["readAt"] for row in client.read(LIST)["data"]}
    assert found[first["id"]] is None
    assert found[second["id"]] is not None

    assert client.write("POST", READ, {}) == {"read": 1}
    assert all(row["readAt"] for row in client.read(LIST)["data"])


@pytest.mark.parametrize("ids", [["1"], [0], [2**63], "1", [1.5], [True], [-1], [10**30]])
def test_wrong_ids_are_refused(ids: object) -> None:
    client = ApiClient("admin")
    stage("Coffee")

    client.write("POST", READ, {"ids": ids}, expect=422)

    assert not Notification.objects.filter(read_at__isnull=False).exists()


def test_an_empty_list_of_ids_marks_none() -> None:
    client = ApiClient("admin")
    stage("Coffee")

    assert client.write("POST", READ, {"ids": []}) == {"read": 0}


def test_a_lost_permission_hides_it() -> None:
    make.user("admin")
    stage("Coffee")

    User.objects.filter(pk=make.user("admin").pk).update(role="translator")
    client = ApiClient("admin")

    assert client.read(LIST)["data"] == []
    assert client.write("POST", READ, {}) == {"read": 0}


def test_a_deleted_post_is_not_named() -> None:
    client = ApiClient("admin")
    post = stage("Secret plan")

    delete_post(post_id=post.pk, actor=make.actor("editor"))

    (row,) = client.read(LIST)["data"]
    assert "Secret" not in str(row)
    assert row["url"] == ""
