"""Revisions and terms of a post through AI clients."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from content.models import Layer, Post
from content.posts.trash import delete_post
from proofroom.core.errors import NotFound
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def test_revisions_are_listed_newest_first_with_what_each_changed() -> None:
    post = make.post("Kettle")
    make.edited(post, {"title": "Better kettle", "excerpt": "Now with a spout"})

    rows = done("list_post_revisions", postId=str(post.pk))["items"]
    (full,) = done("list_post_revisions", postId=str(post.pk), limit=1, format="full")["items"]

    newest = post.revisions.latest("version")
    assert rows[0] == {
        "id": str(newest.pk),
        "layer": "source",
        "reason": "edited",
        "by": "editor",
        "createdAt": rows[0]["createdAt"],
        "changedPaths": ["post.title", "post.excerpt"],
    }
    assert [row["reason"] for row in rows] == ["edited", "created"]
    assert full == {**rows[0], "version": newest.version}


def test_a_revision_holds_what_was_live_and_nothing_staged() -> None:
    post = make.post("Kettle")
    make.staged(post, {"title": "SECRET-STAGED"})
    make.staged(post, {"excerpt": "SECRET-STAGED"}, layer=Layer.REVIEW)
    revision = post.revisions.get()

    concise = done("get_post_revision", postId=str(post.pk), revisionId=str(revision.pk))
    full = done(
        "get_post_revision", postId=str(post.pk), revisionId=str(revision.pk), format="full"
    )

    assert "SECRET-STAGED" not in str(concise) + str(full)
    assert full["document"] == revision.document
    assert concise["document"]["post"]["title"] == "Kettle"
    assert concise["document"]["modules"][1]["props"]["content"] == {
        "markdown": "Grind the beans.\n\nPour the water.\n"
    }
    assert "changes" not in full


@pytest.mark.parametrize("backwards", [False, True])
def test_two_revisions_are_compared_from_the_older_to_the_newer(backwards: bool) -> None:
    post = make.post("Kettle")
    older = post.revisions.get()
    make.edited(post, {"title": "Better kettle"})
    newer = post.revisions.latest("version")
    one, other = (older, newer) if backwards else (newer, older)

    answer = done(
        "get_post_revision", postId=str(post.pk), revisionId=str(one.pk), compareTo=str(other.pk)
    )

    assert answer["id"] == str(one.pk)
    assert answer["compared"] == {"from": str(older.pk), "to": str(newer.pk)}
    assert answer["changes"] == [
        {
            "path": "post.title",
            "kind": "changed",
            "label": "Title",
            "before": "Kettle",
            "after": "Better kettle",
        }
    ]


def _arguments(post: Post, name: str) -> dict[str, Any]:
    own, other = post.revisions.get(), make.post("Other").revisions.get()
    post_id, of_other, absent = str(post.pk), str(other.pk), str(uuid4())
    return {
        "of another post": {"postId": post_id, "revisionId": of_other},
        "absent": {"postId": post_id, "revisionId": absent},
        "compared with another post's": {
            "postId": post_id, "revisionId": str(own.pk), "compareTo": of_other,
        },
        "of no post": {"postId": absent, "revisionId": str(own.pk)},
    }[name]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["of another post", "absent", "compared with another post's", "of no post"]
)
def test_threat_06_a_revision_of_another_post_is_not_there(name: str) -> None:
    arguments = _arguments(make.post("Kettle"), name)

    code, text = refused("get_post_revision", **arguments)

    assert code == "not_found"
    assert "list_post" in text
    assert "Other" not in text


def test_what_is_in_the_trash_has_no_revisions_and_no_terms() -> None:
    post = make.post("Kettle")
    revision = str(post.revisions.get().pk)
    delete_post(post_id=post.pk, actor=make.actor("editor"))
    id_ = str(post.pk)

    for tool, arguments in (
        ("list_post_revisions", {}),
        ("get_post_revision", {"revisionId": revision}),
        ("get_post_taxonomy_term_ids", {}),
    ):
        assert refused(tool, postId=id_, **arguments)[0] == NotFound.code


@pytest.mark.parametrize("role", ["admin", "editor", "translator", "ai_agent"])
def test_whoever_sees_posts_sees_what_they_were(role: str) -> None:
    post = make.post("Kettle")
    revision = str(post.revisions.get().pk)

    assert done("list_post_revisions", by(role), postId=str(post.pk))["total"] == 1
    assert done("get_post_revision", by(role), postId=str(post.pk), revisionId=revision)


def test_the_terms_of_a_post_are_those_of_the_layer() -> None:
    live, proposed, reviewed = (str(make.term(name).pk) for name in ("Coffee", "Tea", "Water"))
    post = make.edited(make.post(), {"taxonomyTermIds": [live]})
    id_ = str(post.pk)
    make.staged(post, {"taxonomyTermIds": [live, reviewed]}, layer=Layer.REVIEW)
    done("set_post_taxonomy_terms_ai_review", postId=id_, taxonomyTermIds=[proposed])

    def ids(**arguments: str) -> list[str]:
        return list(done("get_post_taxonomy_term_ids", postId=id_, **arguments)["ids"])

    assert ids() == ids(layer="ai-review") == [proposed]
    assert ids(layer="review") == sorted([live, reviewed])
    assert ids(layer="source") == [live]
