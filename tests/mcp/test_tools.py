"""Staging changes of a post: results, and the advice of each refusal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

import pytest
from jsonschema import Draft202012Validator

from agents_app.runs.creation import create_run
from content.document.document import PostDocument
from content.models import Draft, Post
from content.posts.trash import delete_post
from mcp_bridge.access.principals import Principal
from media.models import Asset, MediaReference
from proofroom.core.tools import Tool, all_tools
from proofroom.core.tools.pagination import ToolPage
from proofroom.core.tools.schemas import result_schema
from proofroom_apps.previews.services import create_preview_link
from proofroom_apps.starter.demo import reading, seeding
from tests import make
from tests.contract.test_tool_walk import TOOLS
from tests.mcp.calling import done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def test_a_patch_merges_into_what_is_staged() -> None:
    post = make.post()

    first = done("save_post_ai_review", postId=str(post.pk), patch={"metaTitle": "One"})
    second = done(
        "save_post_ai_review",
        postId=str(post.pk),
        patch={"excerpt": "Two"},
        expectedVersion=first["version"],
    )
    context = done("get_post_context", postId=str(post.pk))

    assert second["staged"] == ["post.excerpt"]
    assert second["layer"] == "ai-review"
    assert {change["path"]: change["after"] for change in context["aiReview"]["changes"]} == {
        "post.excerpt": "Two",
        "post.metaTitle": "One",
    }


def test_a_stale_version_is_refused_with_the_present_one() -> None:
    post = make.post()
    done("save_post_ai_review", postId=str(post.pk), patch={"metaTitle": "One"})

    code, text = refused(
        "save_post_ai_review", postId=str(post.pk), patch={"metaTitle": "Two"}, expectedVersion=0
    )

    assert code == "stale_version"
    assert "you sent version 0, the current version is 1. Reload it" in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"patch": {"metatitle": "x"}}, "unknown_field", "Did you mean 'metaTitle'? Known: title,"),
        ({"patch": {"modules": []}}, "unknown_field", "update_post_module_ai_review"),
        ({"patch": {"title": ""}}, "invalid", "title must not be empty"),
        ({"patch": {"title": 7}}, "invalid", "title must be text"),
        ({"patch": {"slug": "No Spaces"}}, "invalid", "A slug may contain"),
        ({"patch": {"canonicalUrl": "javascript:alert(1)"}}, "invalid", "absolute http(s)"),
        ({"patch": {"featuredMediaId": make.PASSWORD}}, "invalid", "must be a UUID"),
        ({"patch": {"customFields": {"rank": 1}}}, "invalid_props", "customFields.rank"),
        ({"patch": []}, "invalid_arguments", "`patch`"),
        ({"pach": {}}, "invalid_arguments", "did you mean `patch`?"),
        ({}, "invalid_arguments", "`patch` is required"),
    ],
)
def test_a_wrong_patch_is_refused_with_the_lesson(
    arguments: dict[str, Any], code: str, words: str
) -> None:
    post = make.post()

    found, text = refused("save_post_ai_review", postId=str(post.pk), **arguments)

    assert found == code
    assert words in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"moduleType": "heroo"}, "unknown_module", "Did you mean 'hero'? Known: "),
        ({"moduleType": "callout", "props": {"titel": "x"}}, "invalid_props",
         "props.titel: There is no property 'titel' here. Did you mean 'title'?"),
        ({"moduleType": "faq", "props": {"items": [{"question": 7}]}}, "invalid_props",
         "props.items.0.question: This must be text."),
        ({"moduleType": "callout", "scope": "global"}, "invalid", "by their globalSlug"),
        ({"moduleType": "callout", "globalSlug": "nope"}, "unknown_global", "'nope'"),
        ({"moduleType": "callout", "scope": "static"}, "invalid_arguments", "'local' or 'global'"),
        ({"moduleType": "hero", "contentMarkdown": "x"}, "no_rich_text", "Send props"),
    ],
)  # fmt: skip
def test_a_wrong_module_is_refused_with_the_lesson(
    arguments: dict[str, Any], code: str, words: str
) -> None:
    post = make.post()

    found, text = refused("add_module_to_post_ai_review", postId=str(post.pk), **arguments)

    assert found == code
    assert words in text


def test_a_global_module_is_placed_and_overridden_for_this_post_only() -> None:
    shared, post = make.global_module(), make.post()

    added = done(
        "add_module_to_post_ai_review",
        postId=str(post.pk),
        moduleType="callout",
        globalSlug="newsletter",
    )
    done(
        "update_post_module_ai_review",
        postModuleId=added["postModuleId"],
        overrides={"title": "Only here"},
    )

    module = make.layers(post).ai_review.document.module(added["postModuleId"])
    assert module is not None
    assert (module.scope, module.overrides, module.props) == (
        "global", {"title": "Only here"}, {},
    )  # fmt: skip
    shared.refresh_from_db()
    assert shared.props["title"] == "Subscribe"


@pytest.mark.parametrize("of", ["nothing", "a post", "nested"])
def test_a_file_that_is_not_there_is_refused(of: str) -> None:
    post, picture = make.post(), make.image()
    id_ = str(post.pk) if of == "a post" else str(uuid4())
    type_, path = "hero", "props.imageId"
    props: dict[str, Any] = {"imageId": id_}
    if of == "nested":
        type_, path = "gallery", "props.items.1.imageId"
        props = {"items": [{"imageId": str(picture.pk)}, {"imageId": id_}]}

    code, text = refused(
        "add_module_to_post_ai_review", postId=str(post.pk), moduleType=type_, props=props
    )
    done(
        "add_module_to_post_ai_review",
        postId=str(post.pk),
        moduleType="hero",
        props={"imageId": "{" + str(picture.pk).upper() + "}"},
    )

    assert (code, f"leave {path} out" in text, id_ in text) == ("unknown_media", True, True)


def test_an_override_of_a_posts_own_module_is_a_prop() -> None:
    """An override would hide later changes of the props by a person."""
    post = make.post()
    id_ = make.layers(post).live.modules[0].id
    make.staged(post, edit=lambda document: _with_override(document, id_))

    staged = done("update_post_module_ai_review", postModuleId=id_, overrides={"title": "Staged"})[
        "staged"
    ]

    module = make.layers(post).ai_review.document.module(id_)
    assert module is not None
    assert (module.props["title"], module.overrides) == ("Staged", {})
    assert staged == [f"modules.{id_}.props.title", f"modules.{id_}.overrides.title"]


def _with_override(document: PostDocument, id_: str) -> PostDocument:
    module = document.module(id_)
    assert module is not None
    return document.with_module(replace(module, overrides={"title": "On top"}))


def test_a_module_is_found_by_its_id_alone_and_an_unknown_one_is_explained() -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    for tool in ("update_post_module_ai_review", "remove_post_module_ai_review"):
        code, text = refused(tool, postModuleId=unknown)
        assert code == "not_found"
        assert text.endswith("Call get_post_context to see a post's modules.")
        assert "`postModuleId`" in refused(tool, postModuleId="hero")[1]


def test_terms_must_exist_suit_the_type_and_be_no_more_than_allowed() -> None:
    post = make.post()
    terms = [str(make.term(name).pk) for name in ("A", "B", "C", "D")]
    elsewhere = make.term("Berlin", taxonomy="places")

    staged = done(
        "set_post_taxonomy_terms_ai_review", postId=str(post.pk), taxonomyTermIds=terms[:3]
    )
    too_many = refused(
        "set_post_taxonomy_terms_ai_review", postId=str(post.pk), taxonomyTermIds=terms
    )
    by_patch = refused("save_post_ai_review", postId=str(post.pk), patch={}, taxonomyTermIds=terms)
    no_term = refused(
        "set_post_taxonomy_terms_ai_review", postId=str(post.pk), taxonomyTermIds=[str(post.pk)]
    )
    wrong = refused(
        "set_post_taxonomy_terms_ai_review",
        postId=str(post.pk),
        taxonomyTermIds=[str(elsewhere.pk)],
    )

    assert staged["staged"] == ["post.taxonomyTermIds"]
    assert "At most 3 terms of 'topics' are allowed. You sent 4." in too_many[1]
    assert by_patch[1] == too_many[1]
    assert f"No taxonomy term has the ID {post.pk}." in no_term[1]
    assert "Posts of type blog do not use 'places'; they use: topics, tags." in wrong[1]


def test_submitting_nothing_and_an_unknown_post_are_refused() -> None:
    post = make.post()

    assert refused("submit_ai_review_to_review", postId=str(post.pk)) == (
        "nothing_staged", "This post has no changes in AI Review.",
    )  # fmt: skip
    code, text = refused(
        "submit_ai_review_to_review", postId="00000000-0000-4000-8000-000000000000"
    )
    assert code == "not_found"
    assert text.endswith("Call list_posts to find the id.")


def test_every_tool_that_stages_answers_not_found_for_a_deleted_post() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    delete_post(post_id=post.pk, actor=make.actor("admin"))

    for tool, arguments in (
        ("save_post_ai_review", {"postId": str(post.pk), "patch": {}}),
        ("add_module_to_post_ai_review", {"postId": str(post.pk), "moduleType": "callout"}),
        ("update_post_module_ai_review", {"postModuleId": hero, "props": {}}),
        ("remove_post_module_ai_review", {"postModuleId": hero}),
        ("set_post_taxonomy_terms_ai_review", {"postId": str(post.pk), "taxonomyTermIds": []}),
    ):
        assert refused(tool, **arguments)[0] == "not_found"


READS: Final = frozenset(
    tool.name for tool in all_tools() if tool.kind == "read" and tool.group != "diagnostics"
)

# Where the sample content has something better to show than the walk over the tools.
OF_SAMPLE: Final[dict[str, dict[str, Any]]] = {
    "get_global_module": {"globalSlug": "newsletter-callout"},
    "get_module_schema": {"type": "faq"},
    "get_post_revision": {"postId": "POST", "revisionId": "REVISION", "compareTo": "EARLIER"},
    "search_media": {"q": "coffee"},
    "suggest_modules_for_layout": {"postType": "blog"},
}


def arguments_of(name: str, names: dict[str, str]) -> dict[str, Any]:
    """Return arguments besides limit, cursor and format; upper-case ones are looked up in the sample content."""
    _, given = TOOLS[name]
    chosen = OF_SAMPLE.get(name, given)
    return {
        key: names.get(value, value) if isinstance(value, str) else value
        for key, value in chosen.items()
    }


def test_every_read_and_every_list_promises_its_answer() -> None:
    promised = {tool.name for tool in all_tools() if tool.result is not None}

    assert promised >= READS


def test_the_answers_of_the_sample_content_are_what_was_promised() -> None:
    names = _sample()

    for tool in all_tools():
        if tool.name not in READS:
            continue
        for format in _formats(tool):
            given = arguments_of(tool.name, names)
            answer = done(tool.name, _operator(), **given, **format)
            _check(tool, answer)
            if isinstance(tool.result, type) and issubclass(tool.result, ToolPage):
                _check_pages(tool.name, {**given, **format}, answer)


def _operator() -> Principal:
    return Principal(id="client:answers", user_id=make.user("ai_agent").pk)


def _formats(tool: Tool[Any]) -> list[dict[str, str]]:
    has_format = "format" in tool.arguments.model_fields
    return [{"format": "concise"}, {"format": "full"}] if has_format else [{}]


def _check(tool: Tool[Any], answer: dict[str, Any]) -> None:
    assert tool.result is not None
    errors = [
        f"{tool.name} {'.'.join(map(str, error.path))}: {error.message[:200]}"
        for error in Draft202012Validator(result_schema(tool.result)).iter_errors(answer)
    ]
    assert errors == []
    for item in answer.get("items", []):
        assert None not in item.values(), (tool.name, item)


def _check_pages(name: str, arguments: dict[str, Any], whole: dict[str, Any]) -> None:
    """Check that pages of two give the same rows in the same order, and that the list is not empty."""
    assert whole["total"] >= 1, name
    seen: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = done(name, _operator(), **arguments, limit=5 if not cursor else 7, **cursor)
        assert page["total"] == whole["total"]
        seen += page["items"]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == whole["total"], name
    assert seen[: len(whole["items"])] == whole["items"]
    assert len({str(item) for item in seen}) == len(seen), name


def _sample() -> dict[str, str]:
    _seed()
    file = MediaReference.objects.order_by("asset_id").first()
    post = Post.objects.get(slug="how-to-brew-filter-coffee", locale="en")
    assert file is not None
    create_preview_link(post_id=post.pk, layer="source", actor=make.actor())
    make.edited(post, {"title": "Filter coffee, again"})
    make.edited(post, {"excerpt": "Once more"})
    done("save_post_ai_review", _operator(), postId=str(post.pk), patch={"metaTitle": "Proposed"})
    assert Draft.objects.filter(is_empty=False).exists()
    run = create_run(
        agent_id="seo-specialist", scope="dropdown", actor=make.actor(), post_id=post.pk
    )
    newest, earlier = post.revisions.order_by("-version")[:2]
    return {
        "POST": str(post.pk),
        "RUN": str(run.pk),
        "FILE": str(file.asset_id),
        "REVISION": str(newest.pk),
        "EARLIER": str(earlier.pk),
    }


def _seed() -> None:
    """Create the sample articles with their dependencies; one small picture replaces all others, which
    are slow to draw, and a file without a size.
    """
    actor, site = make.actor("editor"), reading.read_site()
    picture = str(make.image("coffee.png", categories=["demo"]).pk)
    images = dict.fromkeys(site.images, picture)
    make.image("drawing.png")
    Asset.objects.filter(filename="drawing.png").update(width=None, height=None)
    for number, term in enumerate(site.topics["en"]):
        seeding.ensure_term(term, "en", place=number)
    for slug, shared in site.globals.items():
        seeding.ensure_global(slug, shared.type, shared.label, shared.props)
    for post in reading.read_posts():
        if post.type == "blog" and post.locale in ("en", "de"):
            seeding.ensure_post(post, actor, images)
