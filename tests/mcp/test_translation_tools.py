"""Translations through the tools: listing, and proposing one or several in AI Review."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from content.models import Layer, Post
from content.posts.trash import delete_post
from content.store.translation_status import states_of
from content.translations.translate import create_translation
from mcp_bridge.access.principals import Principal
from proofroom.definitions import find_post_type
from tests import make
from tests.mcp.calling import by, done, refused
from tests.queries import count_queries

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]
ONE, MANY, LIST = (
    "create_translation_ai_review", "create_translations_ai_review_bulk", "list_post_translations",
)  # fmt: skip


@pytest.fixture
def languages(environment: Any) -> None:
    environment(locales=("en", "de", "fr", "it"))


def propose(post: Post, locale: str = "de", **arguments: Any) -> dict[str, Any]:
    return done(ONE, postId=str(post.pk), locale=locale, **arguments)


def document(answer: dict[str, Any]) -> Any:
    return make.layers(Post.objects.get(pk=answer["translationId"])).ai_review.document


def test_a_translation_is_a_draft_in_ai_review_with_what_was_given_and_the_rest_of_the_source() -> (
    None
):
    post = make.post(excerpt="Short.", robotsJson={"noindex": True})
    hero, prose = make.module_id(post, "hero"), make.module_id(post, "prose")
    before = make.live_hash()

    made = propose(
        post,
        slug="filterkaffee",
        fields={"title": "Filterkaffee"},
        modules=[
            {"sourcePostModuleId": hero, "props": {"title": "Filterkaffee"}},
            {"sourcePostModuleId": prose, "props": {"content": "Bohnen **mahlen**."}},
        ],
    )

    german = Post.objects.get(pk=made["translationId"])
    assert make.live_hash() == before
    assert (german.is_placeholder, german.status, german.translated_from_id) == (
        True, "draft", post.pk,
    )  # fmt: skip
    found = document(made)
    assert (made["postId"], made["locale"], made["slug"], made["layer"]) == (
        str(german.pk), "de", "filterkaffee", "ai-review",
    )  # fmt: skip
    assert [found.fields[name] for name in ("title", "excerpt", "robotsJson")] == [
        "Filterkaffee", "Short.", {"noindex": True},
    ]  # fmt: skip
    by_source = {module["sourcePostModuleId"]: module for module in made["modules"]}
    assert list(by_source) == list(make.layers(post).live.order)
    copy = by_source[hero]["postModuleId"]
    assert found.module(copy).props["title"] == "Filterkaffee"
    assert found.module(copy).locked is True
    assert f"modules.{copy}.props.title" in by_source[hero]["translatable"]
    assert '"bold"' in json.dumps(found.module(by_source[prose]["postModuleId"]).props)


def test_the_slug_is_the_sources_unless_another_is_given() -> None:
    post = make.post()

    assert propose(post)["slug"] == post.slug


def test_a_layer_that_people_work_in_may_be_the_source() -> None:
    post = make.post()
    make.staged(post, {"title": "From Review"}, layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "From AI Review"})

    made = propose(post, sourceLayer="review")

    assert document(made).fields["title"] == "From Review"
    assert document(made).fields["excerpt"] == ""


def test_a_proposal_is_translated_once_it_is_submitted() -> None:
    made = done("create_post_ai_review", type="blog", title="Cold brew")
    source = Post.objects.get(pk=made["postId"])

    for layer in ("source", "review"):
        code, text = refused(ONE, postId=made["postId"], locale="de", sourceLayer=layer)
        assert (code, "sourceLayer review" in text) == ("not_approved", True)
    done("submit_ai_review_to_review", postId=made["postId"])
    german = propose(source, sourceLayer="review")

    assert (german["slug"], document(german).fields["title"]) == ("cold-brew", "Cold brew")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"locale": "xx"}, "invalid", "'xx' is not a language of this site. Available: en, de."),
        ({"locale": "DE"}, "invalid", "'DE' is not a language"),
        ({"locale": ""}, "invalid", "locale must be a language of this site"),
        ({"locale": "en"}, "translation_exists", "English is the language of this post ("),
        ({"locale": 5}, "invalid_arguments", "`locale`"),
        ({"sourceLayer": "ai-review"}, "invalid_arguments", "'source' or 'review'"),
        ({"layer": "source"}, "invalid_arguments", "unknown argument `layer`"),
        ({"status": "published"}, "invalid_arguments", "unknown argument `status`"),
        ({"fields": {"status": "published"}}, "not_stageable", "status cannot be staged"),
        ({"fields": {"author": 1}}, "not_stageable", "author cannot be staged"),
        ({"fields": {"publishAt": "2030-01-01T00:00:00Z"}}, "not_stageable", "publishAt"),
        ({"fields": {"parentId": None}}, "not_stageable", "parentId"),
        ({"fields": {"modules": []}}, "unknown_field", "Modules are staged one by one"),
        ({"fields": {"titel": "x"}}, "unknown_field", "Did you mean 'title'?"),
        ({"fields": {"title": ""}}, None, "title must not be empty"),
        ({"fields": {"title": "a\x00"}}, "invalid_arguments", "fields"),
        ({"fields": "[]"}, "invalid_arguments", "`fields`"),
        ({"fields": {"featuredMediaId": str(uuid4())}}, None, "There is no media file with the ID"),
        ({"fields": {"customFields": {"nope": 1}}}, None, "nope"),
        ({"slug": "Not A Slug"}, None, "slug"),
        ({"slug": "taken"}, None, "Send a slug of its own"),
        ({"modules": [{"props": {}}]}, "invalid_arguments", "sourcePostModuleId"),
        ({"modules": [{"sourcePostModuleId": str(uuid4()), "props": {}}]}, "unknown_module", "no module"),
        ({"modules": [{"sourcePostModuleId": "HERO", "props": {}, "locked": False}]}, "invalid_arguments", "locked"),
        ({"modules": [{"sourcePostModuleId": "HERO", "props": {"titel": "x"}}]}, "invalid_props", "mean 'title'?"),
        ({"modules": [{"sourcePostModuleId": "HERO", "props": {"locked": False}}]}, "invalid_props", "locked"),
        ({"modules": [{"sourcePostModuleId": "FOREIGN", "props": {"title": "x"}}]}, "unknown_module", "no module"),
    ],
)  # fmt: skip
def test_a_translation_that_cannot_be_is_refused_and_leaves_no_post(
    arguments: dict[str, Any], code: str | None, words: str
) -> None:
    post, other = make.post(), make.post("Taken", locale="de", slug="taken")
    names = {"HERO": make.module_id(post, "hero"), "FOREIGN": make.module_id(other, "hero")}
    wanted = json.loads(json.dumps(arguments))
    for module in wanted.get("modules", ()):
        id_ = module.get("sourcePostModuleId")
        if id_ in names:
            module["sourcePostModuleId"] = names[id_]

    found, text = refused(ONE, **{"postId": str(post.pk), "locale": "de", **wanted})

    assert words in text
    assert code in (None, found)


def test_a_refused_prop_is_named_by_the_sources_module() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")

    _, text = refused(
        ONE,
        postId=str(post.pk),
        locale="de",
        modules=[{"sourcePostModuleId": hero, "props": {"titel": "x"}}],
    )

    assert f"modules.{hero}.props.titel" in text


def test_what_is_no_text_stays_the_sources() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    schema = done("get_module_schema", type="hero")["propsSchema"]["properties"]
    fixed = next(name for name, prop in schema.items() if not prop["translatable"])

    code, text = refused(
        ONE,
        postId=str(post.pk),
        locale="de",
        modules=[{"sourcePostModuleId": hero, "props": {fixed: "other"}}],
    )

    assert code == "not_translatable"
    assert f"{fixed} of hero is not translated" in text
    assert "update_post_module_ai_review" in text


def test_pictures_of_a_list_stay_where_only_its_words_are_given() -> None:
    first, second = (str(make.image(name).pk) for name in ("a.png", "b.png"))
    post = make.post()
    items = [{"imageId": first, "caption": "One"}, {"imageId": second, "caption": "Two"}]
    make.added_module(post, type="gallery", props={"items": items})
    gallery = make.module_id(post, "gallery")

    made = propose(
        post,
        modules=[
            {
                "sourcePostModuleId": gallery,
                "props": {"items": [{"caption": "Eins"}, {"caption": "Zwei", "imageId": first}]},
            }
        ],
    )

    copy = next(m for m in made["modules"] if m["sourcePostModuleId"] == gallery)
    assert document(made).module(copy["postModuleId"]).props["items"] == [
        {"imageId": first, "caption": "Eins"}, {"imageId": first, "caption": "Zwei"},
    ]  # fmt: skip


def test_an_existing_translation_is_refused_and_named() -> None:
    post = make.post()
    german = create_translation(post_id=post.pk, locale="de", actor=make.actor())

    code, text = refused(ONE, postId=str(post.pk), locale="de")

    assert code == "translation_exists"
    assert str(german.pk) in text
    assert "Change that post instead: get_post_context" in text


def test_a_post_that_has_no_translations_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_post_type("testimonial"), "localized", False)
    gone, plain = make.post("Gone"), make.post("Jo Example", type="testimonial", markdown="")
    delete_post(post_id=gone.pk, actor=make.actor())

    for tool, arguments in ((ONE, {"locale": "de"}), (MANY, {"locales": ["de"]})):
        code, text = refused(tool, postId=str(gone.pk), **arguments)
        assert (code, "Call list_posts to find the id." in text) == ("not_found", True)
        code, text = refused(tool, postId=str(uuid4()), **arguments)
        assert code == "not_found"
        code, text = refused(tool, postId=str(plain.pk), **arguments)
        assert (code, text) == ("not_localized", "Posts of type testimonial cannot be translated.")


@pytest.mark.parametrize("tool", [ONE, MANY])
@pytest.mark.parametrize("role", ["admin", "editor", "translator", "ai_agent"])
def test_who_may_stage_may_propose_translations(role: str, tool: str) -> None:
    post = make.post()
    arguments: dict[str, Any] = {"locale": "de"} if tool == ONE else {"locales": ["de"]}

    if role == "translator":
        code, _ = refused(tool, by(role), postId=str(post.pk), **arguments)
        assert code == "not_allowed"
    else:
        done(tool, by(role), postId=str(post.pk), **arguments)
        german = Post.objects.get(translation_group=post.translation_group, locale="de")
        assert (german.is_placeholder, german.author) == (True, make.user(role))


def test_the_named_agent_is_the_author_and_an_unknown_one_is_refused() -> None:
    make.agent_actor("translator")
    post, other = make.post(), make.post("Other")

    made = propose(post, agentId="translator")
    unknown = done(MANY, postId=str(other.pk), locales=["de"], agentId="nobody")

    german = Post.objects.get(pk=made["translationId"])
    assert german.author.agent_id == "translator"
    marks = make.layers(german).ai_review.marks
    assert {(mark.agent_id, mark.principal) for mark in marks.values()} == {
        ("translator", "client:ai_agent")
    }
    assert "author" not in made
    assert (
        unknown["author"]
        == Post.objects.get(title="Proposed by an agent", translated_from=other).author.username
    )


def test_translations_are_listed_with_what_is_stale() -> None:
    post = make.post()
    german = create_translation(post_id=post.pk, locale="de", actor=make.actor(), title="Deutsch")
    make.edited(post, {"title": "Better"})
    make.staged(german, {"excerpt": "x"})

    answer = done(LIST, postId=str(post.pk))

    assert answer == {
        "items": [
            {
                "id": str(german.pk),
                "locale": "de",
                "slug": german.slug,
                "title": "Deutsch",
                "status": "draft",
                "stalePaths": ["post.title"],
                "untranslatedPaths": list(states_of([german])[german.pk].untranslated_paths),
                "layers": ["ai-review"],
            }
        ],
        "total": 1,
    }
    full = done(LIST, postId=str(post.pk), format="full")["items"][0]
    assert (full["translatedFrom"], full["url"]) == (str(post.pk), german.path)
    assert (full["newModules"], full["removedModules"]) == ([], [])
    back = done(LIST, postId=str(german.pk))["items"]
    assert [(row["id"], row["stalePaths"]) for row in back] == [(str(post.pk), [])]


def test_a_list_pages_and_asks_as_much_however_long_it_is(languages: None) -> None:
    post, short = make.post(), make.post("Short")
    done(MANY, postId=str(post.pk), locales=["de", "fr", "it"])
    done(MANY, postId=str(short.pk), locales=["de"])
    principal = by("ai_agent")

    first = done(LIST, postId=str(post.pk), limit=2)
    rest = done(LIST, postId=str(post.pk), limit=2, cursor=first["nextCursor"])

    assert [row["locale"] for row in first["items"] + rest["items"]] == ["de", "fr", "it"]
    assert "nextCursor" not in rest
    counts = []
    for source in (short, post):
        counts.append(count_queries(done, LIST, principal, postId=str(source.pk)))
    assert counts[0] == counts[1]


def test_a_narrow_credential_translates_nothing() -> None:
    narrow = Principal(
        id="client:n", user_id=make.user("editor").pk, tools=frozenset({"list_posts"})
    )

    for tool, arguments in ((ONE, {"locale": "de"}), (MANY, {"locales": ["de"]})):
        assert (
            refused(tool, narrow, postId=str(make.post(tool).pk), **arguments)[0] == "not_allowed"
        )


def test_lane_21_nothing_public_shows_a_proposed_translation() -> None:
    post = make.post()
    client, made = Client(), propose(post, slug="secret-slug", fields={"title": "SECRET-TITLE"})

    answers = [
        client.get(path)
        for path in (
            post.path, "/de/blog/secret-slug", "/sitemap.xml", "/de/blog", "/llms.txt",
            f"/api/public/posts/{post.pk}", "/api/public/posts?locale=de",
            "/api/public/resolve?path=/de/blog/secret-slug",
            f"/api/public/posts/{made['translationId']}",
        )
    ]  # fmt: skip

    text = "".join(answer.getvalue().decode().lower() for answer in answers)
    assert answers[0].status_code == 200
    assert [answers[1].status_code, answers[-1].status_code] == [404, 404]
    for secret in ("secret-title", "proposed by an agent", "proposed-"):
        assert secret not in text
    assert json.loads(answers[5].content)["translations"] == []
