"""Behavior of the staging tools beyond single changes: templates, Markdown, JSON strings, unknown names."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from agents_app.models import AgentSwitch
from content.models import Post
from media.models import Asset
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]
CREATE = "create_post_ai_review"


def create(**arguments: Any) -> dict[str, Any]:
    return done(CREATE, **{"type": "blog", "title": "New", **arguments})


def prose_of(made: dict[str, Any]) -> str:
    document = make.layers(Post.objects.get(pk=made["postId"])).ai_review.document
    found = next(module for module in document.modules if module.type == "prose")
    return json.dumps(found.props["content"])


def test_a_template_is_chosen_by_name_or_id_and_the_name_wins() -> None:
    groups = {row["name"]: row["id"] for row in done("list_module_groups")["items"]}
    page = groups["page-default"]
    default = create()["seededModules"]

    by_id = create(type="page", title="By id", moduleGroupId=page)
    both = create(title="Both", moduleGroupName="blog-default", moduleGroupId=page)

    assert [row["type"] for row in default] == ["hero", "prose", "faq"]
    assert [row["type"] for row in both["seededModules"]] == ["hero", "prose", "faq"]
    assert [row["orderIndex"] for row in by_id["seededModules"]] == list(
        range(len(by_id["seededModules"]))
    )
    code, text = refused(CREATE, type="blog", title="x", moduleGroupId=str(uuid4()))
    assert (code, "blog-default" in text) == ("unknown_module_group", True)


def test_markdown_stays_where_the_edit_of_the_prose_fails() -> None:
    made = create(
        contentMarkdown="General.",
        moduleEdits=[{"type": "prose", "contentMarkdown": "Own.", "props": {"nope": 1}}],
    )
    other = create(
        title="Other",
        contentMarkdown="General.",
        moduleEdits=[{"type": "prose", "props": {"content": {"markdown": "Own."}}}],
    )

    assert made["appliedModuleEdits"][0]["ok"] is False
    assert "General." in prose_of(made)
    assert "Own." not in prose_of(made)
    assert "Own." in prose_of(other)
    assert "General." not in prose_of(other)


def test_markdown_fills_the_prose_that_is_seeded() -> None:
    made = create(type="company", title="Bean & Co", contentMarkdown="Kept.")

    assert [row["type"] for row in made["seededModules"]] == ["prose"]
    assert "Kept." in prose_of(made)
    assert made["appliedModuleEdits"] == []


def test_markdown_without_prose_is_told() -> None:
    made = create(type="testimonial", title="Ada", contentMarkdown="Lost?")

    assert made["seededModules"] == []
    [edit] = made["appliedModuleEdits"]
    assert edit["ok"] is False
    assert "add_module_to_post_ai_review" in edit["error"]


def test_objects_and_lists_may_come_as_strings_of_json() -> None:
    term = str(make.term("Coffee").pk)

    made = create(
        moduleEdits=json.dumps([{"type": "hero", "props": {"title": "From a string"}}]),
        taxonomyTermIds=json.dumps([term]),
    )
    saved = done("save_post_ai_review", postId=made["postId"], patch='{"excerpt": "From a string"}')
    hero = made["seededModules"][0]["postModuleId"]
    changed = done("update_post_module_ai_review", postModuleId=hero, props='{"subtitle": "Sub"}')

    assert made["appliedModuleEdits"] == [{"ok": True, "postModuleId": hero}]
    assert saved["staged"] == ["post.excerpt"]
    assert changed["staged"] == [f"modules.{hero}.props.subtitle"]
    code, text = refused("save_post_ai_review", postId=made["postId"], patch='{"excerpt": ')
    assert (code, "`patch` is not valid JSON" in text) == ("invalid_arguments", True)


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ({"featuredMediaId": str(uuid4())}, "There is no media file with the ID"),
        ({"jsonldOverrides": [1]}, "jsonldOverrides"),
        ({"robotsJson": "noindex"}, "robotsJson"),
        ({"customFields": "{}"}, "customFields must be an object"),
        ({"taxonomyTermIds": [str(uuid4())]}, "No taxonomy term has the ID"),
        ({"taxonomyTermIds": "all"}, "taxonomyTermIds must be a list"),
        ({"title": {"markdown": "x"}}, "title must be text"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_what_a_field_cannot_be_is_refused(patch: dict[str, Any], words: str) -> None:
    _, text = refused("save_post_ai_review", postId=str(make.post().pk), patch=patch)

    assert words in text


def test_a_known_picture_and_structured_data_are_staged() -> None:
    post, picture = make.post(), str(make.image().pk)
    patch = {"featuredMediaId": picture, "jsonldOverrides": {"@type": "HowTo"}}

    staged = done("save_post_ai_review", postId=str(post.pk), patch=patch)

    assert set(staged["staged"]) == {"post.featuredMediaId", "post.jsonldOverrides"}
    found = make.layers(post).ai_review.document.fields
    assert (found["featuredMediaId"], found["jsonldOverrides"]) == (picture, {"@type": "HowTo"})


def test_a_global_slug_and_another_scope_contradict_each_other() -> None:
    make.global_module()
    post = make.post()

    code, text = refused(
        "add_module_to_post_ai_review",
        postId=str(post.pk), moduleType="callout", scope="local", globalSlug="newsletter",
    )  # fmt: skip
    wrong_type, _ = refused(
        "add_module_to_post_ai_review",
        postId=str(post.pk), moduleType="faq", globalSlug="newsletter",
    )  # fmt: skip

    assert (code, "Leave out scope" in text) == ("invalid", True)
    assert wrong_type == "unknown_global"


def test_another_posts_terms_and_modules_are_not_this_posts() -> None:
    post, other = make.post(), make.post("Other")

    code, text = refused(
        "update_post_module_ai_review",
        postModuleId=make.module_id(other, "hero"),
        props={"title": "x"},
        postId=str(post.pk),
    )

    assert (code, "unknown argument `postId`" in text) == ("invalid_arguments", True)


def test_a_picture_is_made_in_an_agents_name() -> None:
    make.agent_actor("illustrator")
    post = make.post()
    words = {"prompt": "A cup of coffee", "altText": "A cup of coffee on a table"}
    place = {"postId": str(post.pk), "path": "post.featuredMediaId"}

    made = done("generate_image", by("editor"), **words, **place, agentId="illustrator")

    assert make.layers(post).ai_review.marks["post.featuredMediaId"].agent_id == "illustrator"
    assert set(made) >= {"mediaId", "url", "layer", "version", "staged"}
    AgentSwitch.objects.create(agent_id="illustrator", is_enabled=False)
    code, _ = refused("generate_image", by("editor"), **words, agentId="illustrator")
    assert code == "agent_switched_off"
    assert Asset.objects.count() == 1


def test_one_fault_is_told_once_and_several_each_with_its_place() -> None:
    hero = make.module_id(make.post(), "hero")

    _, one = refused("update_post_module_ai_review", postModuleId=hero, props={"image": "x"})
    _, two = refused(
        "update_post_module_ai_review", postModuleId=hero, props={"image": "x", "theme": "x"}
    )

    assert one == (
        "The module hero is not valid: props.image: There is no property 'image' here. Did you "
        "mean 'imageId'? Known: title, subtitle, ctaLabel, ctaUrl, imageId, theme."
    )
    assert [line.split(": ")[0] for line in two.splitlines()[1:]] == [
        "- props.theme", "- props.image",
    ]  # fmt: skip
