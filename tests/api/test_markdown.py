"""Rich text sent as Markdown is stored and answered as a document."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Layer
from content.posts.create import create_post
from proofroom.definitions.richtext.markdown_reader import from_markdown
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.api_description import api_description

pytestmark = pytest.mark.django_db

TEXT = "# Tea\n\nBoil **water**, see [how](/how)."
DOCUMENT = from_markdown(TEXT)
FAQ = {"items": [{"question": "Why?", "answer": TEXT}]}
FAQ_STORED = [{"question": "Why?", "answer": DOCUMENT}]


def answers(faq: Any) -> list[Any]:
    return [item["answer"] for item in faq["items"]]


def test_a_new_post_takes_it() -> None:
    modules = [{"type": "prose", "props": {"content": TEXT}}, {"type": "faq", "props": FAQ}]

    made = ApiClient("editor").write(
        "POST", "/api/posts", {"type": "page", "title": "Tea", "modules": modules}, expect=201
    )

    prose, faq = made["modules"]
    assert prose["props"]["content"] == DOCUMENT
    assert answers(faq["props"]) == [DOCUMENT]


def test_modules_take_it_live() -> None:
    post, client = make.post(), ApiClient("editor")
    id_ = make.module_id(post, "prose")

    changed = client.write("PUT", f"/api/post-modules/{id_}", {"props": {"content": TEXT}})
    added = client.write(
        "POST", f"/api/posts/{post.pk}/modules", {"type": "faq", "props": FAQ}, expect=201
    )
    again = client.write("PUT", f"/api/post-modules/{id_}", {"props": {"content": TEXT}})

    assert changed["props"]["content"] == DOCUMENT
    assert answers(added["props"]) == [DOCUMENT]
    assert again["version"] == added["version"], "the same words change nothing"


def test_review_takes_it() -> None:
    post, client = make.post(), ApiClient("editor")
    prose, faq = make.module_id(post, "prose"), make.module_id(post, "faq")
    modules = [
        {"postModuleId": prose, "props": {"content": TEXT}},
        {"postModuleId": faq, "props": FAQ},
    ]

    client.write("PUT", f"/api/posts/{post.pk}/review", {"modules": modules})

    rows = client.read(f"/api/posts/{post.pk}")["modules"]
    staged = {row["postModuleId"]: row["reviewProps"] for row in rows}
    assert staged[prose]["content"] == DOCUMENT
    assert answers(staged[faq]) == [DOCUMENT]
    assert make.layers(post).view(Layer.REVIEW).document.module(prose).props["content"] == DOCUMENT


def test_shared_modules_and_overrides_take_it() -> None:
    post, client = make.post(), ApiClient("editor")
    body = {"globalSlug": "shared", "type": "faq", "label": "Shared", "props": FAQ}

    made = client.write("POST", "/api/modules/global", body, expect=201)
    same = client.write("PUT", "/api/modules/global/shared", {"props": FAQ})
    other = {"items": [{"question": "How?", "answer": "Slowly."}]}
    changed = client.write("PUT", "/api/modules/global/shared", {"props": other})
    placed = client.write(
        "POST",
        f"/api/posts/{post.pk}/modules",
        {"type": "faq", "globalSlug": "shared", "overrides": FAQ},
        expect=201,
    )
    id_ = placed["postModuleId"]
    over = client.write("PUT", f"/api/post-modules/{id_}", {"overrides": other})

    assert made["props"]["items"] == same["props"]["items"] == FAQ_STORED
    assert same["version"] == made["version"]
    assert answers(changed["props"]) == [from_markdown("Slowly.")]
    assert answers(placed["overrides"]) == [DOCUMENT]
    assert answers(over["overrides"]) == [from_markdown("Slowly.")]


def test_groups_and_imports_take_it() -> None:
    client = ApiClient("admin")
    group = {
        "name": "mine",
        "label": "Mine",
        "postType": "page",
        "modules": [{"type": "faq", "props": FAQ}],
    }
    document = {
        "schemaVersion": 1,
        "post": {"type": "page", "locale": "en", "title": "Imported"},
        "modules": [{"type": "faq", "props": FAQ}],
    }

    made = client.write("POST", "/api/module-groups", group, expect=201)
    imported = client.write("POST", "/api/posts/import", document, expect=201)
    post = create_post(
        actor=make.actor("admin"), type="page", fields={"title": "Tea"}, module_group="mine"
    )

    assert answers(made["modules"][0]["props"]) == [DOCUMENT]
    assert answers(imported["modules"][0]["props"]) == [DOCUMENT]
    assert make.layers(post).live.modules[0].props["items"] == FAQ_STORED


@pytest.mark.parametrize(
    ("value", "word"),
    [("x" * 200_001, "200001"), (7, "object"), ([TEXT], "object")],
    ids=["too long", "a number", "a list"],
)
def test_what_is_neither_is_refused_by_its_path(value: Any, word: str) -> None:
    post = make.post()
    id_ = make.module_id(post, "faq")
    props = {"items": [{"question": "Why?", "answer": value}]}
    path = "props.items.0.answer"

    answer = refused(
        "PUT", f"/api/post-modules/{id_}", {"props": props}, 422, "invalid_props", path
    )

    assert word in answer["details"][path][0]


def test_a_link_that_no_page_may_carry_is_text() -> None:
    post = make.post()
    id_ = make.module_id(post, "prose")
    text = "[here](javascript:alert(1)) <script>alert(2)</script>"

    changed = ApiClient("editor").write(
        "PUT", f"/api/post-modules/{id_}", {"props": {"content": text}}
    )

    assert "marks" not in str(changed["props"]["content"])


def test_the_schemas_say_so() -> None:
    schema = ApiClient("editor").read("/api/modules/faq/schema")["propsSchema"]
    answer = schema["properties"]["items"]["items"]["properties"]["answer"]

    assert answer["type"] == ["string", "object"]
    assert "Markdown" in answer["description"]
    for name in ("ModuleEntry", "StagedModule", "NewModule", "ModulePatch", "NewGlobalModule"):
        props = api_description()["components"]["schemas"][name]["properties"]["props"]
        assert "Markdown" in str(props), name
