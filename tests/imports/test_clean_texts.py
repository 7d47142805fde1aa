"""Characters not allowed in the site's texts are removed on import, and reported."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from content.models import Post
from proofroom.core.json import JsonObject
from proofroom.taxonomies.models import Term
from proofroom_apps.imports.clean_texts import clean_items
from proofroom_apps.imports.items import (
    MenuEntryItem,
    MenuItem,
    ModuleItem,
    PostItem,
    Remark,
    TermItem,
)
from proofroom_apps.imports.models import ImportLine
from tests import make
from tests.api_client import ApiClient
from tests.imports.command import call_import

pytestmark = pytest.mark.django_db


def run(folder: Path, *records: dict[str, object]) -> str:
    make.user("admin")
    path = folder / "records.json"
    path.write_text(json.dumps(records))
    out = StringIO()
    call_import("json", str(path), stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("title", "kept", "named"),
    [
        ("Call \u202a+49 30 123\u202c now", "Call +49 30 123 now", "U+202A, U+202C"),
        ("\u202bعنوان المقال\u202c", "عنوان المقال", "U+202B, U+202C"),
        ("Tea\x07 and\x9d\tcake\x00", "Tea and cake", "U+0007, U+009D, U+0000"),
    ],
)
def test_a_title_loses_only_what_no_title_has(
    tmp_path: Path, title: str, kept: str, named: str
) -> None:
    said = run(tmp_path, {"title": title, "body": "The text.", "excerpt": title, "tags": [title]})

    post = Post.objects.get()
    assert post.title == kept
    assert f"Characters that cannot be in title were left out: {named}." in said
    assert [term.name for term in Term.objects.all()] == [post.title]
    assert ImportLine.objects.filter(message__contains=named, severity="warning").exists()


def test_an_id_with_characters_that_no_database_stores_is_found_again(tmp_path: Path) -> None:
    record = {"id": "7\x00\ud800", "title": "Tea", "body": "The text."}
    run(tmp_path, record)

    said = run(tmp_path, record)

    assert Post.objects.count() == 1
    assert "unchanged" in said


def test_every_text_of_an_item_goes_through_the_same_door() -> None:
    text = "a\u202ab\x07"
    document: JsonObject = {
        "type": "doc",
        "content": [{"type": "paragraph", "content": [{"type": "text", "text": text}]}],
    }
    faq = ModuleItem("faq", {"items": [{"question": text, "answer": document}]})
    post = PostItem(
        "1", "here", "blog", "en", text, "a", fields={"metaTitle": text, "excerpt": text}
    )
    items = [
        TermItem("t", "tags", text),
        MenuItem("m", text, "m", "en", (MenuEntryItem(text, "/", entries=(MenuEntryItem(text),)),)),
        PostItem("2", "there", "nothing-like-it", "en", "x", "x", fields={"customFields": {}}),
        post,
        PostItem("3", "faq", "page", "en", "x", "x", modules=(faq,)),
    ]

    found = list(clean_items(items))

    said = "Characters that cannot be in {} were left out: {}."
    assert found[:2] == [
        Remark("ab", said.format("name", "U+202A, U+0007")),
        TermItem("t", "tags", "ab"),
    ]
    menu = found[4]
    assert isinstance(menu, MenuItem)
    assert (menu.name, menu.entries[0].label, menu.entries[0].entries[0].label) == ("ab",) * 3
    assert found[5] == items[2]
    cleaned = found[6]
    assert isinstance(cleaned, PostItem)
    assert (cleaned.title, cleaned.fields) == ("ab", {"metaTitle": "ab", "excerpt": "a\u202ab"})
    assert [one.message for one in cleaned.remarks] == [
        said.format("metaTitle", "U+202A, U+0007"),
        said.format("excerpt", "U+0007"),
        said.format("title", "U+202A, U+0007"),
    ]
    module = found[7]
    assert isinstance(module, PostItem)
    item = module.modules[0].props["items"][0]
    assert item["question"] == "ab"
    assert item["answer"]["content"][0]["content"][0]["text"] == "a\u202ab"


ENTRY = {"type": "custom", "label": " a\u202c", "url": "/"}
MENU = {"name": "M", "slug": "m", "locale": "en", "items": [ENTRY]}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/api/posts", {"type": "blog", "title": " a\u202c"}, "title"),
        ("/api/taxonomies/tags/terms", {"name": " a\u202c"}, "name"),
        (
            "/api/menus",
            {
                "name": "M",
                "slug": "m",
                "locale": "en",
                "items": [{"type": "custom", "label": " a\u202c", "url": "/"}],
            },
            "items.0.label",
        ),
        (
            "/api/webhooks",
            {"name": "a \u202c", "url": "https://example.com/", "events": ["post.created"]},
            "name",
        ),
    ],
)
def test_a_refusal_names_character_and_place(
    path: str, body: dict[str, object], field: str
) -> None:
    answer = ApiClient("admin").send("POST", path, body)

    assert answer.status_code == 422
    assert list(answer.json()["details"]) == [field]
    assert "U+202C at position 2" in answer.json()["details"][field][0]
