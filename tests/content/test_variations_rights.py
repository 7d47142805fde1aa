"""Permissions for variations, and their REST endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from content.posts.trash import delete_post
from content.posts.variations import promote_variation
from content.store.traffic import change_variation
from proofroom.accounts.services.tokens import create_token
from proofroom.core.errors import NotAllowed, NotFound
from tests import make
from tests.api_client import ApiClient
from tests.content.variations import running, state, told, varied

pytestmark = pytest.mark.django_db


def test_threat_04_variations_of_that_very_post_only() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    made, gone = varied(other), varied(post, "C")
    delete_post(post_id=gone.pk, actor=make.actor())

    for id_ in (made.pk, gone.pk, other.pk, post.pk, "nonsense", "\x00"):
        with pytest.raises(NotFound):
            change_variation(post_id=post.pk, variation_id=id_, actor=make.actor(), running=True)
    assert told() == []
    assert not Post.objects.filter(variation_running=True).exists()


def test_agents_translators_and_ai_clients_neither_start_weigh_stop_nor_promote() -> None:
    post = make.post()
    made, other = running(post), varied(post, "C", 10)
    before = make.live_hash()
    wanted: list[dict[str, Any]] = [{"running": False}, {"weight": 10}]
    actors = [
        make.actor("translator"), make.agent_actor(), make.mcp_actor("admin"), make.mcp_actor(),
    ]  # fmt: skip

    for actor in actors:
        for words in wanted:
            with pytest.raises(NotAllowed):
                change_variation(post_id=post.pk, variation_id=made.pk, actor=actor, **words)
        with pytest.raises(NotAllowed):
            change_variation(post_id=post.pk, variation_id=other.pk, actor=actor, running=True)
        with pytest.raises(NotAllowed):
            promote_variation(post_id=post.pk, variation_id=made.pk, actor=actor)
    assert (state(made), state(other)) == ((50, True), (10, False))
    assert make.live_hash() == before


@pytest.mark.parametrize(
    ("right", "may", "may_not"),
    [
        ("posts.edit", {"weight": 5}, {"running": True}),
        ("posts.publish", {"running": True}, {"weight": 5}),
    ],
)
def test_each_needs_a_right_of_its_own(
    right: str, may: dict[str, Any], may_not: dict[str, Any]
) -> None:
    post = make.post()
    made = varied(post)
    path = f"/api/posts/{post.pk}/variations/{made.pk}"
    _, secret = create_token(
        name="narrow",
        permissions=["posts.view", right],
        actor=make.actor("admin"),
        user_id=make.user("editor").pk,
    )
    header = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}

    refused = ApiClient().send("PATCH", path, may_not, **header)
    assert (refused.status_code, state(made)) == (403, (50, False))
    assert ApiClient().send("PATCH", path, may, **header).status_code == 200


def test_over_rest() -> None:
    post = make.post()
    made, other = varied(post, "B", 30), varied(post, "C", 10)
    editor = ApiClient("editor")
    path = f"/api/posts/{post.pk}/variations"

    row = editor.write("PATCH", f"{path}/{made.pk}", {"running": True, "weight": 40})
    again = editor.write("PATCH", f"{path}/{made.pk}", row)
    answer = editor.read(path)

    assert (row["running"], row["weight"], row["id"]) == (True, 40, str(made.pk))
    assert again == row
    assert answer["original"] == {"id": str(post.pk), "weight": 60}
    assert [(r["variation"], r["weight"], r["running"]) for r in answer["data"]] == [
        ("B", 40, True),
        ("C", 10, False),
    ]
    whole = editor.read(f"/api/posts/{made.pk}")
    assert (whole["weight"], whole["running"]) == (40, True)
    assert editor.read(f"/api/posts/{post.pk}")["running"] is None
    assert editor.write("PUT", f"/api/posts/{made.pk}", whole)["running"] is True
    hostile: list[Any] = [{"weight": "5"}, {"weight": True}, {"running": 1}, {"runing": True}, []]
    for body in hostile:
        assert editor.send("PATCH", f"{path}/{other.pk}", body).status_code == 422
    assert editor.send("PATCH", f"{path}/{post.pk}", {"weight": 5}).status_code == 404
    assert state(other) == (10, False)
