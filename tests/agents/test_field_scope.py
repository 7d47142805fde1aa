"""Runs limited to some fields, such as the outdated ones of a translation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents_app.models import AgentRun
from content.layers import approve, digest_of, submit
from content.models import Draft, Layer, Post
from content.posts.create import create_post
from content.store.translation_status import states_of
from content.translations.translate import create_translation
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.markdown_reader import from_markdown
from tests import make
from tests.agents.asking import execute, payload_of
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db


def german_of_changed() -> tuple[Post, Post]:
    """Create a translated post whose source changed its title, excerpt and headline."""
    source = make.post("Coffee", excerpt="First")
    german = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    make.edited(german, {"title": "Kaffee", "excerpt": "Erstens"})
    make.edited(source, {"title": "Good coffee", "excerpt": "Second"})
    return source, german


def translate(post: Post, *paths: str) -> AgentRun:
    return execute(post, agent_id="translator", context={"onlyFields": list(paths)})


def accept(post: Post) -> None:
    admin = make.actor("admin")
    submit(post_id=post.pk, actor=admin)
    view = make.layers(post).view(Layer.REVIEW)
    approve(post_id=post.pk, actor=admin, digest=digest_of(view.changes))


def stale(post: Post) -> tuple[str, ...]:
    return states_of([Post.objects.get(pk=post.pk)])[post.pk].stale_paths


def test_only_the_named_field_is_proposed_from_the_source_as_it_is() -> None:
    _source, german = german_of_changed()

    run = translate(german, "post.title")

    assert (run.status, run.staged) == ("succeeded", ["post.title"])
    assert make.layers(german).ai_review.document.fields["title"] == "[de] Good coffee"
    assert make.layers(german).ai_review.document.fields["excerpt"] == "Erstens"


def test_a_prop_of_a_module_is_proposed() -> None:
    _source, german = german_of_changed()
    path = f"modules.{make.module_id(german, 'hero')}.props.title"

    run = translate(german, path)

    assert run.staged == [path]
    module = make.layers(german).ai_review.document.module(make.module_id(german, "hero"))
    assert module is not None
    assert module.props["title"] == "[de] Coffee"


def test_an_accepted_proposal_counts_as_made_from_what_the_agent_read() -> None:
    source, german = german_of_changed()
    translate(german, "post.title", "post.excerpt")
    make.edited(source, {"excerpt": "Third"})

    accept(german)

    german.refresh_from_db()
    assert (german.title, german.excerpt) == ("[de] Good coffee", "[de] Second")
    assert stale(german) == ("post.excerpt",)


def test_an_answer_about_another_field_is_sent_back_and_never_staged(openai: Any) -> None:
    _source, german = german_of_changed()
    fake = openai(
        Reply({"post": {"title": "Guter Kaffee", "excerpt": "Zweitens"}}),
        Reply({"post": {"title": "Guter Kaffee"}}),
    )

    run = translate(german, "post.title")

    assert (run.status, run.staged) == ("succeeded", ["post.title"])
    assert "post.excerpt: Not asked for" in json.dumps(fake.asked[1].body["messages"][-1])
    context = payload_of(fake.asked[0])["context"]
    assert context["onlyFields"] == ["post.title"]
    assert context["sourceValues"] == {"post.title": "Good coffee"}


def test_an_agent_that_insists_proposes_nothing(openai: Any) -> None:
    _source, german = german_of_changed()
    openai(*[Reply({"post": {"excerpt": "Zweitens"}})] * 3)

    run = translate(german, "post.title")

    assert run.status == "failed"
    assert not Draft.objects.exists()


def test_a_limited_run_has_no_tool_that_writes() -> None:
    post = make.post()

    run = execute(post, agent_id="general-assistant", context={"onlyFields": ["post.title"]})

    assert run.tools is not None
    assert "save_post_ai_review" not in run.tools
    assert all(not name.startswith(("save_", "create_", "update_")) for name in run.tools)


@pytest.mark.parametrize(
    "paths",
    [
        [],
        "post.title",
        {"post": "title"},
        ["post.status"],
        ["post.slug.x"],
        ["post.nonsense"],
        ["modules.nonsense.props.title"],
        ["modules"],
        [7],
        [None],
        ["post.title"] * 501,
        ["post.customFields.nonsense"],
    ],
)
def test_what_is_no_list_of_fields_is_refused(paths: Json) -> None:
    post = make.post()

    with pytest.raises(RuleViolation) as caught:
        execute(post, context={"onlyFields": paths})

    assert "context" in caught.value.details
    assert AgentRun.objects.count() == 0


def test_a_module_is_named_by_the_part_that_a_post_writes() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")

    with pytest.raises(RuleViolation):
        execute(post, context={"onlyFields": [f"modules.{hero}.overrides.title"]})


ITEMS: list[JsonObject] = [
    {"question": "Why?", "answer": from_markdown("So.")},
    {"question": "How?"},
]


def post_with_questions() -> Post:
    post = make.post(excerpt="Old")
    faq = make.module_id(post, "faq")
    make.changed_module(post, faq, props={"items": ITEMS}, by=make.actor("admin"))
    return post


def items(**first: Any) -> list[dict[str, Any]]:
    stored = [{"answer": from_markdown(""), **item} for item in ITEMS]
    return [{**stored[0], **first}, stored[1]]


def asked(openai: Any, key: str, *answers: Any, post: Post | None = None) -> tuple[Any, Any]:
    """Return the run, and the requests to the provider."""
    fake = openai(*(Reply(answer) for answer in answers))
    post = post or post_with_questions()
    return execute(post, agent_id="general-assistant", scope="field", field_key=key), fake


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("post.title", {"value": "New"}),
        ("post.title", {"post": {"title": "New"}}),
        ("post.title", {"value": None, "post": {"title": "New"}, "module": None}),
        ("post.excerpt", {"post": {"excerpt": "New"}, "summary": "Shorter."}),
        ("module.hero.title", {"value": "New"}),
        ("module.hero.title", {"module": {"props": {"title": "New"}}}),
        ("module.hero.title", {"module": {"postModuleId": "HERO", "props": {"title": "New"}}}),
        ("module.faq.items.0.question", {"value": "New"}),
        ("module.faq.items.0.question", {"module": {"props": {"items": "ITEMS"}}}),
    ],
    ids=str,
)
def test_each_form_is_the_new_value(openai: Any, key: str, answer: dict[str, Any]) -> None:
    post = post_with_questions()
    module = answer.get("module") or {}
    if "postModuleId" in module:
        module["postModuleId"] = make.module_id(post, "hero").upper()
    if module.get("props") == {"items": "ITEMS"}:
        module["props"] = {"items": items(question="New")}

    run, fake = asked(openai, key, answer, post=post)

    assert (run.status, run.value, len(fake.asked)) == ("succeeded", "New", 1), run.error
    document = make.layers(post).ai_review.document
    if key.startswith("post."):
        assert document.fields[key.removeprefix("post.")] == "New"
    elif "faq" in key:
        faq = document.module(make.module_id(post, "faq"))
        assert faq is not None
        assert faq.props["items"] == items(question="New")
    else:
        hero = document.module(make.module_id(post, "hero"))
        assert hero is not None
        assert hero.props["title"] == "New"
    assert len(run.staged) == 1


def test_a_custom_field_is_answered_as_a_patch_of_the_post(openai: Any) -> None:
    post = create_post(actor=make.actor("admin"), type="profile", fields={"title": "Ada"})

    run, _ = asked(
        openai,
        "post.customFields.role",
        {"post": {"customFields": {"role": "Roaster"}}},
        post=post,
    )

    assert (run.status, run.value) == ("succeeded", "Roaster"), run.error
    assert run.staged == ["post.customFields.role"]


@pytest.mark.parametrize("form", ["contentMarkdown", "props"])
def test_rich_text_is_answered_as_markdown(openai: Any, form: str) -> None:
    post = post_with_questions()
    said = (
        {"contentMarkdown": "# New"}
        if form == "contentMarkdown"
        else {"props": {"content": "# New"}}
    )

    run, _ = asked(openai, "module.prose.content", {"module": said}, post=post)

    prose = make.layers(post).ai_review.document.module(make.module_id(post, "prose"))
    assert run.status == "succeeded", run.error
    assert prose is not None
    assert prose.props["content"] == from_markdown("# New")


def test_an_override_is_the_value_of_a_shared_modules_field(openai: Any) -> None:
    post = post_with_questions()
    make.placed(post, make.global_module())

    run, _ = asked(
        openai, "module.callout.title", {"module": {"overrides": {"title": "New"}}}, post=post
    )

    assert (run.status, run.value) == ("succeeded", "New"), run.error


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("post.title", {"post": {"title": "New", "excerpt": "Also"}}),
        ("post.title", {"post": {"metaTitle": "Another"}}),
        ("post.title", {"post": {}}),
        ("post.title", {"module": {"props": {"title": "New"}}}),
        ("post.title", {"value": "New", "post": {"title": "Newer"}}),
        ("post.title", {"value": "New", "modules": []}),
        ("post.title", {"summary": "Nothing to change."}),
        ("module.hero.title", {"post": {"title": "New"}}),
        ("module.hero.title", {"module": {"props": {"title": "New", "subtitle": "Also"}}}),
        ("module.hero.title", {"module": {"postModuleId": "FAQ", "props": {"title": "New"}}}),
        ("module.hero.title", {"module": {"props": {"subtitle": "Another"}}}),
        ("module.faq.items.0.question", {"module": {"props": {"items": "OTHER"}}}),
    ],
    ids=str,
)
def test_what_else_an_answer_speaks_of_is_refused_and_asked_for_again(
    openai: Any, key: str, answer: dict[str, Any]
) -> None:
    post = post_with_questions()
    module = answer.get("module") or {}
    if "postModuleId" in module:
        module["postModuleId"] = make.module_id(post, "faq")
    if module.get("props") == {"items": "OTHER"}:
        other = items(question="New")
        module["props"] = {"items": [other[0], {**other[1], "question": "Also"}]}

    run, fake = asked(openai, key, answer, {"value": "Only this"}, post=post)

    assert (run.status, run.value, len(fake.asked)) == ("succeeded", "Only this", 2), run.error
    assert len(run.staged) == 1
    assert len(make.layers(post).ai_review.changes) == 1


def test_an_agent_that_keeps_naming_a_file_that_is_not_there_fails_and_stages_nothing(
    openai: Any,
) -> None:
    post = post_with_questions()
    gone = "00000000-0000-4000-8000-000000000000"

    run, fake = asked(openai, "module.hero.imageId", {"value": gone}, post=post)

    assert run.status == "failed"
    assert gone in run.error
    assert len(fake.asked) > 1
    assert not make.layers(post).ai_review.exists
