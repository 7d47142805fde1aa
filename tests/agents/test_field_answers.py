"""A field agent may answer in any form of the specification, about its field only."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from content.posts.create import create_post
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.core.json import JsonObject
from proofroom.definitions.richtext.markdown_reader import from_markdown
from tests import make
from tests.agents.asking import execute
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db

ITEMS: list[JsonObject] = [
    {"question": "Why?", "answer": from_markdown("So.")},
    {"question": "How?"},
]


def post_with_questions() -> Post:
    post = make.post(excerpt="Old")
    faq = make.module_id(post, "faq")
    edit_post(
        post_id=post.pk,
        actor=make.actor("admin"),
        edit=lambda document: document_edits.update_module(document, faq, props={"items": ITEMS}),
    )
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
