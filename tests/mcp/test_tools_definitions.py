"""Module groups, global modules, module definitions and the registry, through AI clients."""

from __future__ import annotations

from typing import Any

import pytest

from agents_app.definitions.agents import all_agents
from content.modules.module_groups import create_group
from content.posts.trash import delete_post
from content.store.module_group_queries import find_group
from proofroom.definitions import modules
from proofroom.taxonomies.models import Term
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def test_a_group_is_found_by_its_name_and_by_its_id() -> None:
    group = find_group("blog-default")

    named = done("get_module_group", name="blog-default")
    by_id = done("get_module_group", moduleGroupId=str(group.id).upper())
    both = done("get_module_group", name="blog-default", moduleGroupId=str(group.id))

    assert named == by_id == both
    assert (named["id"], named["postType"], named["source"]) == (str(group.id), "blog", "code")
    assert [(row["type"], row["orderIndex"], row["locked"]) for row in named["modules"]] == [
        ("hero", 0, True), ("prose", 1, False), ("faq", 2, False),
    ]  # fmt: skip
    assert named["modules"][0]["scope"] == "local"
    assert named["modules"][0]["defaultProps"] == {"theme": "light"}


def test_a_group_that_people_made_brings_its_props_and_global_modules() -> None:
    make.global_module("newsletter")
    create_group(
        actor=make.actor("admin"),
        name="landing",
        label="Landing",
        description="",
        post_type="page",
        modules=[
            {"type": "hero", "props": {"title": "Welcome"}},
            {"type": "callout", "scope": "global", "globalSlug": "newsletter"},
        ],
    )

    hero, shared = done("get_module_group", name="landing")["modules"]

    assert hero["defaultProps"] == {"title": "Welcome", "theme": "light"}
    assert (shared["scope"], shared["globalSlug"]) == ("global", "newsletter")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "Send moduleGroupId or name"),
        ({"name": "blog-defualt"}, "blog-default"),
        ({"name": "page-default", "moduleGroupId": "BLOG"}, "name another group"),
        ({"moduleGroupId": "00000000-0000-4000-8000-000000000000"}, "no module group named"),
        (
            {"moduleGroupId": "7"},
            "`moduleGroupId`: an id (a UUID) is wanted, as the lists answer it; got '7'",
        ),
    ],
)
def test_an_unknown_group_error_lists_the_groups(arguments: dict[str, Any], words: str) -> None:
    named = {"BLOG": str(find_group("blog-default").id)}
    given = {name: named.get(value, value) for name, value in arguments.items()}

    _, text = refused("get_module_group", **given)

    assert words in text


def test_global_modules_are_listed_by_slug_with_the_posts_that_show_them() -> None:
    letter, other = make.global_module("newsletter"), make.global_module("about-us")
    make.placed(make.post(), letter)
    make.placed(make.post("Second"), letter)
    trashed = make.post("Third")
    make.placed(trashed, letter)
    delete_post(post_id=trashed.pk, actor=make.actor("editor"))

    rows = done("list_global_modules")["items"]

    assert [(row["globalSlug"], row["usageCount"]) for row in rows] == [
        ("about-us", 0), ("newsletter", 2),
    ]  # fmt: skip
    assert set(rows[0]) == {"globalSlug", "type", "label", "usageCount", "updatedAt"}
    assert done("list_global_modules", q="letter")["total"] == 1
    assert done("list_global_modules", type="hero")["items"] == []
    full = done("list_global_modules", q="about", format="full")["items"][0]
    assert (full["id"], full["version"]) == (str(other.pk), 1)


def test_a_global_module_brings_its_props_and_their_schema() -> None:
    module = make.global_module("newsletter")

    answer = done("get_global_module", globalSlug="newsletter")

    assert (answer["globalSlug"], answer["type"], answer["usageCount"]) == (
        "newsletter", "callout", 0,
    )  # fmt: skip
    assert answer["props"] == {"title": "Subscribe", "body": {"markdown": ""}, "tone": "info"}
    callout = done("get_module_schema", type="callout")
    assert answer["schema"] == {name: callout[name] for name in answer["schema"]}
    assert set(answer["schema"]) == {"type", "propsSchema", "defaultProps"}
    assert answer["version"] == module.version


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_global_module", {"globalSlug": "newsleter"}, "Did you mean 'newsletter'?"),
        ("get_global_module", {"globalSlug": "x"}, "Call list_global_modules"),
        ("get_global_module", {"globalSlug": "nul\x00"}, "globalSlug"),
        ("list_global_modules", {"type": "heros"}, "Did you mean 'hero'?"),
        ("inspect_module_definition", {"moduleSlug": "heros"}, "Did you mean 'hero'?"),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_the_nearest(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    make.global_module("newsletter")

    _, text = refused(tool, **arguments)

    assert words in text


def test_a_module_is_inspected_down_to_where_it_is_defined() -> None:
    make.post()
    make.post("Second")
    delete_post(post_id=make.post("Third").pk, actor=make.actor("editor"))

    answer = done("inspect_module_definition", moduleSlug="hero")
    schema = done("get_module_schema", type="hero")

    more = {
        "fieldTypes": {
            "title": "text", "subtitle": "textarea", "ctaLabel": "text", "ctaUrl": "link",
            "imageId": "media", "theme": "select",
        },
        "template": "modules/hero.html",
        "definedIn": "proofroom_apps.starter.modules.hero",
        "usageCount": 2,
    }  # fmt: skip
    assert answer == {**schema, **more}


def test_a_schema_says_that_rich_text_is_written_as_markdown_also_inside_of_lists() -> None:
    prose = done("get_module_schema", type="prose")
    answer = done("get_module_schema", type="faq")["propsSchema"]["properties"]["items"]

    written = {
        "description": "Markdown, or the editor's JSON {type: doc, content: [...]}.",
        "field": "richtext", "translatable": True, "type": ["string", "object"],
    }  # fmt: skip
    assert prose["propsSchema"]["properties"] == {"content": written}
    assert prose["defaultProps"] == {"content": {"markdown": ""}}
    assert answer["items"]["properties"]["answer"] == written


@pytest.mark.parametrize("role", ["admin", "editor", "translator", "ai_agent"])
def test_list_registry_items_names_agents_to_permitted_users_only(role: str) -> None:
    make.form("contact", title="Write to us")
    make.form("contact", locale="de", title="Schreiben Sie uns")

    answer = done("list_registry_items", by(role))

    assert {"slug": "blog", "name": "Blog post"} in answer["postTypes"]
    assert [row["type"] for row in answer["modules"]] == modules.names()
    assert answer["forms"] == [{"slug": "contact", "name": "Write to us"}]
    assert [row["slug"] for row in answer["taxonomies"]] == ["tags", "topics"]
    if role == "translator":
        assert "agents" not in answer
    else:
        assert [row["id"] for row in answer["agents"]] == [agent.id for agent in all_agents()]


def test_terms_are_paged_by_their_roots_each_with_its_tree() -> None:
    coffee, tea = make.term("Coffee"), make.term("Tea")
    child = make.term("Brewing")
    child.parent = coffee
    child.save()

    first = done("list_taxonomy_terms", slug="topics", limit=1)
    second = done(
        "list_taxonomy_terms", slug="topics", limit=1, cursor=first["nextCursor"], format="full"
    )

    leaf = {"id": str(child.pk), "slug": "brewing", "name": "Brewing", "children": []}
    assert first["items"] == [
        {"id": str(coffee.pk), "slug": "coffee", "name": "Coffee", "children": [leaf]}
    ]
    assert [row["id"] for row in second["items"]] == [str(tea.pk)]
    assert second["items"][0]["orderIndex"] == 0
    assert (first["total"], "nextCursor" in second) == (2, False)


def test_terms_say_their_language_where_it_was_not_asked_for() -> None:
    make.term("Coffee")
    Term.objects.create(taxonomy="topics", slug="kaffee", name="Kaffee", locale="de")

    both = done("list_taxonomy_terms", slug="topics")["items"]
    german = done("list_taxonomy_terms", slug="topics", locale="de")["items"]

    assert [row.get("locale") for row in both] == [None, "de"]
    assert [set(row) for row in german] == [{"id", "slug", "name", "children"}] * 2


@pytest.mark.parametrize("format", ["concise", "full"])
def test_allowed_modules_are_listed_as_list_modules_lists_them(format: str) -> None:
    listed = done("list_modules", postType="blog", format=format, limit=100)

    answer = done("get_allowed_modules_for_post_type", postType="blog", format=format, limit=100)

    why = answer.pop("excluded")
    assert answer == listed
    allowed = {item["type"] for item in answer["items"]}
    assert {row["type"] for row in why} == set(modules.names()) - allowed
    assert all(row["why"] for row in why)


def test_a_page_of_allowed_modules_says_where_the_next_begins() -> None:
    tool, first = "get_allowed_modules_for_post_type", {"postType": "blog", "limit": 2}
    page = done(tool, **first)
    after = done(tool, **first, cursor=page["nextCursor"])

    whole = done(tool, postType="blog", limit=100)

    assert [*page["items"], *after["items"]] == whole["items"][:4]
    assert page["total"] == len(whole["items"])
