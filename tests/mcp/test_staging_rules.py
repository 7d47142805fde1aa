"""Behavior of the staging tools beyond single changes: templates, Markdown, JSON strings, unknown names."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents_app.models import AgentSwitch
from content.models import Post
from content.tools.staging_warnings import MAX_WARNINGS
from content.translations.translate import create_translation
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


def test_markdown_without_prose_is_reported() -> None:
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


def test_each_fault_is_reported_once_with_its_place() -> None:
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


SAVE, UPDATE = "save_post_ai_review", "update_post_module_ai_review"


def warned(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["path"], one["code"], one["message"]) for one in answer.get("warnings", [])]


def german(source: Post) -> Post:
    return create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))


def test_a_proposed_translation_says_what_does_not_agree() -> None:
    source = make.post("Two ways in", markdown="Is it free? Yes, for [members](https://a.example).")
    prose, hero = make.module_id(source, "prose"), make.module_id(source, "hero")

    answer = done(
        "create_translation_ai_review",
        postId=str(source.pk),
        locale="de",
        fields={"title": "Drei Wege hinein"},
        modules=[
            {"sourcePostModuleId": hero, "props": {"title": "Zwei Wege hinein"}},
            {
                "sourcePostModuleId": prose,
                "props": {
                    "content": "Ist es kostenlos? Nein, für [Mitglieder](https://b.example)."
                },
            },
        ],
    )

    copy = {one["sourcePostModuleId"]: one["postModuleId"] for one in answer["modules"]}[prose]
    place = f"modules.{copy}.props.content"
    assert warned(answer) == [
        (
            "post.title", "source_mismatch",
            "The source says 'Two', the translation 'Drei'. Keep the number of the source.",
        ),
        (
            place, "source_mismatch",
            "1 · Paragraph: The source says 'Yes', the translation 'Nein'. Keep the answer of the source.",
        ),
        (
            place, "source_mismatch",
            "1 · Paragraph: The source says 'https://a.example', the translation 'https://b.example'. "
            "Keep the link of the source.",
        ),
    ]  # fmt: skip


def test_a_faithful_translation_has_no_warnings() -> None:
    source = make.post("Two ways in", markdown="It takes three days.")
    post = german(source)

    answer = done(SAVE, postId=str(post.pk), patch={"title": "Zwei Wege hinein"})
    module = done(
        UPDATE, postModuleId=make.module_id(post, "prose"), contentMarkdown="Es dauert drei Tage."
    )

    assert "warnings" not in answer
    assert "warnings" not in module


def test_only_what_the_call_staged_is_named() -> None:
    post = german(make.post("Two ways in", excerpt="It costs 20 euros."))
    done(SAVE, postId=str(post.pk), patch={"title": "Drei Wege hinein"})

    answer = done(SAVE, postId=str(post.pk), patch={"excerpt": "Es kostet 30 Euro."})

    assert [path for path, _code, _message in warned(answer)] == ["post.excerpt"]


def test_a_module_is_compared_as_it_is_updated() -> None:
    post = german(make.post(markdown="Open the window for two minutes."))
    prose = make.module_id(post, "prose")

    answer = done(
        UPDATE, postModuleId=prose, contentMarkdown="Zwei Stunden lang das Fenster öffnen."
    )

    assert warned(answer) == [
        (
            f"modules.{prose}.props.content", "source_mismatch",
            "1 · Paragraph: The source says 'two minutes', the translation 'Zwei Stunden'. "
            "Keep the amount and unit of the source.",
        )
    ]  # fmt: skip


def test_the_wrong_language_has_a_code_of_its_own() -> None:
    post = german(make.post(excerpt="All that you need to know about the opening of our new shop."))

    answer = done(
        SAVE,
        postId=str(post.pk),
        patch={
            "excerpt": "Tout ce que vous devez savoir sur l'ouverture de notre nouveau magasin."
        },
    )

    assert warned(answer) == [
        ("post.excerpt", "language", "The text is in 'fr'. Write it in 'de'.")
    ]


def test_texts_that_are_only_copied_are_one_warning() -> None:
    text = "This is a text that is long enough to say which language it is written in."
    source, other = make.post(markdown=text, excerpt=text), make.post(excerpt=text, slug="other")

    answer = done("create_translation_ai_review", postId=str(source.pk), locale="de")
    bulk = done("create_translations_ai_review_bulk", postId=str(other.pk), locales=["de"])

    [(path, code, message)] = warned(answer)
    assert (path, code) == ("post.excerpt", "language")
    assert message.startswith("2 texts are still copies of the source, this one first.")
    [(path, code, message)] = warned(bulk["items"][0])
    assert (path, code) == ("post.excerpt", "language")
    assert message.startswith("The text is still a copy of the source.")


def test_no_more_warnings_than_a_client_reads() -> None:
    source = make.post(markdown="\n\n".join(f"There are {at} cats." for at in range(40)))
    post = german(source)

    answer = done(
        UPDATE,
        postModuleId=make.module_id(post, "prose"),
        contentMarkdown="\n\n".join(f"Es gibt {at} Katzen." for at in range(1, 41)),
    )

    found = warned(answer)
    assert len(found) == MAX_WARNINGS == 20
    assert found[-1][2].startswith("21 more of these are not shown.")


def test_a_post_that_is_no_translation_costs_no_query_more() -> None:
    post = make.post()

    def queries(patch: dict[str, str]) -> int:
        with CaptureQueriesContext(connection) as captured:
            answer = done(SAVE, postId=str(post.pk), patch=patch)
        assert "warnings" not in answer
        return sum("draft_rows" in one["sql"] and "origin_rows" in one["sql"] for one in captured)

    assert queries({"title": "Three ways in"}) == 0
