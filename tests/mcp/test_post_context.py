"""`get_post_context`: parts of a post, several posts in one call, proposed posts, and rejections."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from content.layers import reject
from content.models import Layer, Post
from tests import make
from tests.mcp.calling import done, refused

pytestmark = pytest.mark.django_db
READ = "get_post_context"


def read(post: Post, *parts: str, **arguments: Any) -> dict[str, Any]:
    return done(READ, postId=str(post.pk), **({"parts": list(parts)} if parts else {}), **arguments)


def test_the_whole_post_names_allowed_modules_only_on_request() -> None:
    post = make.post()
    assert set(read(post)) == {
        "post", "modules", "taxonomyTermIds", "translations", "review", "aiReview",
    }  # fmt: skip
    found = read(post, "allowedModules")
    assert set(found) == {"post", "allowedModules"}
    assert {"hero", "prose", "callout"} <= set(found["allowedModules"])


def test_seo_has_the_fields_of_search_engines_and_what_is_staged_there() -> None:
    post = make.post("Brewing", metaTitle="Brew", excerpt="Long text of the excerpt")
    make.staged(post, {"metaTitle": "Brew well", "excerpt": "Other"})

    found = read(post, "seo")

    assert set(found) == {"post", "seo", "aiReview"}
    assert found["seo"] == {"title": "Brewing", "metaTitle": "Brew", "metaDescription": None}
    assert [change["path"] for change in found["aiReview"]["changes"]] == ["post.metaTitle"]
    assert found["post"]["title"] == "Brewing"
    assert "excerpt" not in found["post"]
    assert len(json.dumps(found)) < len(json.dumps(read(post))) / 2


def test_the_outline_has_headings_and_words_but_no_text() -> None:
    post = make.post(markdown="## Grind\n\nFresh beans only.\n\n### Water\n\nHot water.")

    found = read(post, "outline")

    assert set(found) == {"post", "outline"}
    prose = next(row for row in found["outline"] if row["type"] == "prose")
    assert prose["postModuleId"] == make.module_id(post, "prose")
    assert (prose["headings"], prose["words"]) == (["## Grind", "### Water"], 7)
    assert "Fresh beans" not in json.dumps(found)


def test_the_outline_follows_ai_review() -> None:
    post = make.post()
    done("remove_post_module_ai_review", postModuleId=make.module_id(post, "faq"))
    make.staged_addition(post, type="callout", props={"title": "Try it"}, index=1)
    assert [row["type"] for row in read(post, "outline")["outline"]] == ["hero", "callout", "prose"]


def test_one_module_comes_with_its_own_changes() -> None:
    post = make.post()
    prose, hero = make.module_id(post, "prose"), make.module_id(post, "hero")
    make.staged_module(post, prose, content_markdown="New.")
    make.staged_module(post, hero, props={"title": "New"})

    found = read(post, f"module:{prose}", "seo")

    assert set(found) == {"post", "seo", "modules", "aiReview"}
    [module] = found["modules"]
    assert (module["postModuleId"], module["props"]["content"]["markdown"][:5]) == (prose, "Grind")
    assert [change["path"] for change in found["aiReview"]["changes"]] == [
        f"modules.{prose}.props.content"
    ]
    assert len(read(post, "modules")["modules"]) == 3


def test_unknown_parts_and_modules_are_refused_with_what_is_known() -> None:
    post = make.post()
    code, text = refused(READ, postId=str(post.pk), parts=["meta"])
    assert "There is no part 'meta'. Known: seo, outline, modules, module:<id>" in text
    code, text = refused(READ, postId=str(post.pk), parts=[f"module:{uuid4()}"])
    assert code == "not_found"
    assert "parts: [outline] names its modules" in text
    assert "no module <id>" in refused(READ, postId=str(post.pk), parts=["module:<id>"])[1]
    assert "no part 'module:'" in refused(READ, postId=str(post.pk), parts=["module:"])[1]


def test_several_posts_come_in_one_call_in_their_order() -> None:
    one, two = make.post("One"), make.post("Two")
    absent = str(uuid4())

    found = done(READ, postId=[str(two.pk), absent, str(one.pk)], parts=["seo"])

    assert set(found) == {"posts"}
    first, missing, last = found["posts"]
    assert (first["seo"]["title"], last["seo"]["title"]) == ("Two", "One")
    assert missing["postId"] == absent
    assert "list_posts" in missing["error"]
    assert done(READ, postId=[str(one.pk)])["posts"][0] == read(one)


@pytest.mark.parametrize("ids", [[], [str(uuid4())] * 21])
def test_a_list_of_posts_is_checked_like_one(ids: list[str]) -> None:
    code, text = refused(READ, postId=ids)
    assert code == "invalid_arguments"
    assert "`postId`: " in text
    assert "list[" not in text


def test_a_proposed_post_shows_what_is_proposed() -> None:
    made = done(
        "create_post_ai_review",
        type="blog",
        title="Cold brew",
        slug="cold-brew",
        excerpt="Slow coffee.",
        contentMarkdown="Wait a night.",
    )
    post = Post.objects.get(pk=made["postId"])

    found = read(post)

    assert (found["post"]["title"], found["post"]["slug"], found["post"]["excerpt"]) == (
        "Cold brew",
        "cold-brew",
        "Slow coffee.",
    )
    assert found["post"]["proposed"] is True
    assert "url" not in found["post"]
    prose = next(module for module in found["modules"] if module["type"] == "prose")
    assert prose["aiReviewProps"]["content"] == {"markdown": "Wait a night.\n"}
    title = next(one for one in found["aiReview"]["changes"] if one["path"] == "post.title")
    assert title["after"] == "Cold brew"
    assert read(post, "seo")["seo"]["title"] == "Cold brew"
    assert post.title not in json.dumps(found)


def test_rejections_are_told_where_nothing_is_staged() -> None:
    post = make.post()
    for title in ("First", "Second"):
        make.staged(post, {"title": title, "excerpt": "Short."})
        reject(
            post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note=f"Not {title}"
        )

    found = read(post)
    assert found["aiReview"]["changes"] == []
    assert [(one["path"], one["note"], one["by"]) for one in found["rejected"]] == [
        ("post.title", "Not Second", make.user("editor").username),
        ("post.excerpt", "Not Second", make.user("editor").username),
    ]
    assert [one["path"] for one in read(post, "seo")["rejected"]] == ["post.title"]

    make.staged(post, {"title": "Third"})
    found = read(post)
    assert [one["path"] for one in found["rejected"]] == ["post.excerpt"]
    [change] = found["aiReview"]["changes"]
    assert [one["note"] for one in change["rejectedBefore"]] == ["Not Second", "Not First"]
