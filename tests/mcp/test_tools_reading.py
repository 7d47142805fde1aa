"""Finding and reading posts and definitions."""

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


def test_lists_page_with_a_cursor_in_a_stable_order() -> None:
    ids = {str(make.post(f"Post {number}").pk) for number in range(5)}

    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        page = done("list_posts", limit=2, **cursor)
        assert page["total"] == 5
        seen += [row["id"] for row in page["items"]]
        cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else {}

    assert cursor == {}
    assert len(seen) == 5
    assert set(seen) == ids
    for wrong in ("abc", "bz0x", "", "b" * 200):
        code, text = refused("list_posts", cursor=wrong)
        assert code in ("invalid", "invalid_arguments")
        assert "Omit cursor" in text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("list_post_types", {}), ("list_modules", {}), ("list_taxonomies", {}),
     ("list_module_groups", {})],
)  # fmt: skip
def test_every_list_pages(tool: str, arguments: dict[str, Any]) -> None:
    whole = done(tool, limit=100, **arguments)
    first = done(tool, limit=1, **arguments)
    second = done(tool, limit=100, cursor=first["nextCursor"], **arguments)

    assert whole["total"] == len(whole["items"]) > 1
    assert first["items"] + second["items"] == whole["items"]


def test_posts_are_found_by_what_waits_and_by_each_filter() -> None:
    waiting, other = make.post("Waiting"), make.post("Quiet", locale="de", status="draft")
    make.staged(waiting, {"metaTitle": "x"})

    def found(**arguments: Any) -> list[str]:
        return [row["title"] for row in done("list_posts", **arguments)["items"]]

    assert found(hasAiReview=True) == ["Waiting"]
    assert found(hasAiReview=False) == ["Quiet"]
    assert found(hasReview=True) == []
    assert found(locale="de") == found(status="draft") == found(q="quiet") == [other.title]
    assert found(type="page") == []
    assert done("list_posts", q="Waiting")["items"][0]["layers"] == ["ai-review"]
    assert "excerpt" not in done("list_posts")["items"][0]
    assert "excerpt" in done("list_posts", format="full")["items"][0]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("list_posts", {"type": "blogs"}, "Did you mean 'blog'? Known: blog"),
        ("list_posts", {"locale": "fr"}, "There is no locale 'fr'. Known: en, de."),
        ("list_posts", {"limit": 101}, "`limit`: input should be less than or equal to 100"),
        ("list_posts", {"status": "live"}, "'draft', 'published' or 'archived'"),
        ("list_modules", {"postType": "blogs"}, "no post type named 'blogs'"),
        ("list_module_groups", {"postType": "blogs"}, "no post type named 'blogs'"),
        ("get_module_schema", {"type": "heros"}, "Did you mean 'hero'?"),
        ("get_post_type_config", {"postType": "blogs"}, "known: blog"),
        ("list_taxonomy_terms", {"slug": "topic"}, "known: tags, topics"),
        (
            "get_post_context",
            {"postId": "7"},
            "'7' is no ID of a post, no address of this site such as /blog/x, and no type/locale/slug. "
            "Call list_posts to find the id.",
        ),
        ("get_post_manifest", {"postId": str(Post().id), "layer": "live"}, "'ai-review'"),
    ],
)
def test_a_wrong_question_is_answered_with_what_there_is(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    _, text = refused(tool, **arguments)

    assert words in text


def test_reading_the_live_layer_shows_nothing_staged() -> None:
    post = make.post()
    make.staged(post, {"title": "SECRET-STAGED"})

    export = done("export_post_canonical_json", postId=str(post.pk))
    source = done("get_post_manifest", postId=str(post.pk), layer="source")
    staged = done("get_post_manifest", postId=str(post.pk))

    assert "SECRET-STAGED" not in str(export) + str(source)
    assert staged["post"]["title"] == "SECRET-STAGED"
    assert export["schemaVersion"] == source["schemaVersion"] == 1


def test_the_context_shows_modules_of_every_layer() -> None:
    post = make.post()
    faq = make.module_id(post, "faq")
    added = done(
        "add_module_to_post_ai_review",
        postId=str(post.pk),
        moduleType="callout",
        props={"title": "New"},
        orderIndex=1,
    )["postModuleId"]
    done("remove_post_module_ai_review", postModuleId=faq)

    concise = done("get_post_context", postId=str(post.pk))
    full = done("get_post_context", postId=str(post.pk), format="full")

    shown = [
        (module["type"], module.get("orderIndex"), module.get("removed", False))
        for module in concise["modules"]
    ]
    assert shown == [
        ("hero", 0, False), ("callout", 1, False), ("prose", 2, False), ("faq", None, True),
    ]  # fmt: skip
    new = next(module for module in concise["modules"] if module["postModuleId"] == added)
    assert (new["props"], new["aiReviewProps"]["title"]) == (None, "New")
    kinds = {change["path"]: change["kind"] for change in concise["aiReview"]["changes"]}
    assert kinds == {f"modules.{added}": "added", f"modules.{faq}": "removed"}
    prose = next(module for module in full["modules"] if module["type"] == "prose")
    assert prose["props"]["content"]["type"] == "doc"
    done("remove_post_module_ai_review", postModuleId=added)


def test_what_was_read_as_markdown_can_be_written_back() -> None:
    post = make.post()
    prose, faq = make.module_id(post, "prose"), make.module_id(post, "faq")
    read = next(
        m for m in done("get_post_context", postId=str(post.pk))["modules"] if m["type"] == "prose"
    )

    same = done("update_post_module_ai_review", postModuleId=prose, props=read["props"])
    done(
        "update_post_module_ai_review",
        postModuleId=faq,
        props={"items": [{"question": "Why?", "answer": {"markdown": "Be **cause**."}}]},
    )

    assert read["props"] == {"content": {"markdown": "Grind the beans.\n\nPour the water.\n"}}
    assert same["staged"] == []
    staged = make.layers(post).ai_review.document.module(faq)
    assert staged is not None
    answer = staged.props["items"][0]["answer"]
    assert answer["content"][0]["content"][1] == {
        "type": "text", "text": "cause", "marks": [{"type": "bold"}],
    }  # fmt: skip


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
def test_users_who_see_posts_see_their_history(role: str) -> None:
    post = make.post("Kettle")
    revision = str(post.revisions.get().pk)

    assert done("list_post_revisions", by(role), postId=str(post.pk))["total"] == 1
    assert done("get_post_revision", by(role), postId=str(post.pk), revisionId=revision)


def test_a_posts_terms_come_from_the_layer() -> None:
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
