"""`list_my_proposals`: what became of the proposals of a credential."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.layers import approve, digest_of, reject
from content.models import Layer, Post, Provenance, QueuedChange
from content.posts.trash import delete_post
from mcp_bridge.access.principals import Principal
from proofroom.core.content_scope import ContentScope
from proofroom.core.tools import get_tool
from proofroom.core.tools.call import call_raw
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = pytest.mark.django_db
LIST = "list_my_proposals"
SAVE = "save_post_ai_review"


def client(name: str = "laptop") -> Principal:
    return Principal(id=f"client:{name}", user_id=make.user("ai_agent").pk)


def propose(post: Post, principal: Principal | None = None, **patch: str) -> None:
    """Stage a patch and submit it."""
    principal = principal or client()
    done(SAVE, principal, postId=str(post.pk), patch=patch)
    done("submit_ai_review_to_review", principal, postId=str(post.pk))


def accept(post: Post, *paths: str, note: str = "") -> None:
    view = make.layers(post).review
    approve(
        post_id=post.pk,
        actor=make.actor("editor"),
        digest=digest_of(view.changes),
        paths=paths or None,
        note=note,
    )


def drop(post: Post, *paths: str, note: str = "") -> None:
    reject(
        post_id=post.pk,
        layer=Layer.REVIEW,
        actor=make.actor("editor"),
        paths=paths or None,
        note=note,
    )


def test_fields_choose_what_rows_have() -> None:
    post = make.post()
    propose(post, metaTitle="Shorter")

    [row] = done(LIST, client(), fields=["state"])["items"]

    assert row == {"postId": str(post.pk), "state": "open"}
    code, text = refused(LIST, client(), fields=["stat"])
    assert code == "unknown_field"
    assert "'state'" in text


def rows(principal: Principal | None = None, **arguments: Any) -> list[dict[str, Any]]:
    found = done(LIST, principal or client(), **arguments)
    assert found["total"] >= len(found["items"])
    return [{k: v for k, v in row.items() if k not in ("postId", "at")} for row in found["items"]]


def decided() -> Post:
    """Return a post with a proposal in each state."""
    post = make.post("Brewing")
    propose(post, title="Brewing at home", excerpt="Short.", metaTitle="Brew", metaDescription="D")
    make.staged(post, {"title": "Brewing well"}, layer=Layer.REVIEW)
    accept(post, "post.title", "post.excerpt", note="Shorter next time.")
    drop(post, "post.metaDescription", note="Says nothing.")
    return post


def test_every_state_has_its_values_and_the_persons_note() -> None:
    post = decided()

    assert rows(state="edited") == [
        {
            "path": "post.title",
            "state": "edited",
            "proposed": "Brewing at home",
            "accepted": "Brewing well",
            "note": "Shorter next time.",
        }
    ]
    assert rows(state="accepted") == [
        {
            "path": "post.excerpt",
            "state": "accepted",
            "proposed": "Short.",
            "note": "Shorter next time.",
        }
    ]
    assert rows(state="rejected") == [
        {
            "path": "post.metaDescription",
            "state": "rejected",
            "proposed": "D",
            "note": "Says nothing.",
        }
    ]
    assert rows(state="open") == [{"path": "post.metaTitle", "state": "open", "proposed": "Brew"}]
    found = done(LIST, client())
    assert (found["total"], len(found["items"])) == (4, 4)
    assert {row["postId"] for row in found["items"]} == {str(post.pk)}


def test_what_waits_in_either_layer_is_open_with_the_value_as_proposed() -> None:
    post = make.post("Brewing")
    propose(post, title="Brewing at home")
    done(SAVE, client(), postId=str(post.pk), patch={"excerpt": "Short."})
    make.staged(post, {"title": "Brewing well"}, layer=Layer.REVIEW)

    assert {(row["path"], row["proposed"]) for row in rows(state="open")} == {
        ("post.title", "Brewing at home"),
        ("post.excerpt", "Short."),
    }


def test_a_rejected_edit_shows_what_was_proposed() -> None:
    post = make.post("Brewing")
    propose(post, title="Brewing at home")
    make.staged(post, {"title": "Brewing well"}, layer=Layer.REVIEW)
    drop(post, note="Neither.")
    assert rows() == [
        {
            "path": "post.title",
            "state": "rejected",
            "proposed": "Brewing at home",
            "note": "Neither.",
        }
    ]


def test_a_value_that_was_edited_back_is_accepted() -> None:
    post = make.post("Brewing")
    propose(post, title="Brewing at home")
    for title in ("Brewing well", "Brewing at home"):
        make.staged(post, {"title": title}, layer=Layer.REVIEW)
    accept(post)
    assert [row["state"] for row in rows()] == ["accepted"]
    assert rows(state="edited") == []


def test_proposals_of_other_credentials_and_of_people_are_not_listed() -> None:
    decided()
    other = make.post("Tea")
    propose(other, client("desktop"), title="Tea at home")
    make.staged(other, {"excerpt": "Mine"}, layer=Layer.REVIEW)
    accept(other)
    assert len(rows()) == 4
    assert [row["proposed"] for row in rows(client("desktop"))] == ["Tea at home"]
    assert rows(by("editor")) == []


def test_modules_and_rich_text_are_shown_as_they_are_written() -> None:
    post = make.post()
    prose = make.module_id(post, "prose")
    done(
        "update_post_module_ai_review",
        client(),
        postModuleId=prose,
        contentMarkdown="Grind **fresh** beans.",
    )
    done(
        "add_module_to_post_ai_review",
        client(),
        postId=str(post.pk),
        moduleType="callout",
        props={"title": "Try it"},
    )
    found = {row["path"].split(".")[-1]: row["proposed"] for row in rows()}
    assert found.pop("content") == {"markdown": "Grind **fresh** beans.\n"}
    [module] = found.values()
    assert (module["type"], module["props"]["title"]) == ("callout", "Try it")


def test_pages_are_newest_first_and_complete() -> None:
    posts = [make.post(f"Post {number}") for number in range(3)]
    for post in posts:
        propose(post, title="New title", excerpt="New excerpt", metaTitle="New meta")
        accept(post, "post.title")
        drop(post, "post.excerpt")
    seen: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        page = done(LIST, client(), limit=2, **cursor)
        assert page["total"] == 9
        seen += page["items"]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len({(row["postId"], row["path"]) for row in seen}) == len(seen) == 9
    assert [row["at"] for row in seen] == sorted((row["at"] for row in seen), reverse=True)
    code, _ = refused(LIST, client(), limit=2, state="open", **cursor)
    assert code == "invalid"


def test_since_leaves_out_what_is_older() -> None:
    decided()
    now = timezone.now()
    for table, column in ((Provenance, "created_at"), (QueuedChange, "at")):
        table.objects.update(**{column: now - timedelta(days=2)})
    assert [row["state"] for row in rows(since=(now - timedelta(days=1)).isoformat())] == [
        "rejected"
    ]
    assert len(rows(since=(now - timedelta(days=3)).date().isoformat())) == 4


def test_posts_that_the_credential_may_not_view_are_left_out() -> None:
    post = decided()
    german = replace(client(), content_scope=ContentScope(locales=frozenset({"de"})))
    assert rows(german) == []
    delete_post(post_id=post.pk, actor=make.actor("admin"))
    assert rows() == []


def test_a_run_lists_the_proposals_of_its_agent() -> None:
    post = make.post("Brewing")
    make.staged(post, {"title": "By an agent"}, by=make.agent_actor("seo-specialist", "run-1"))
    make.staged(post, {"excerpt": "By another"}, by=make.agent_actor("proofreader", "run-2"))
    tool = get_tool(LIST)
    assert tool is not None
    agent = make.agent_actor("seo-specialist", "run-3")
    answer = json.loads(call_raw(tool, agent, {"state": "open"}).body)
    assert [row["proposed"] for row in answer["items"]] == ["By an agent"]
