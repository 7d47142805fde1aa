"""An exported Contentful space becomes drafts in each language, with links, files and embedded entries."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from content.models import Post
from content.store.post_repository import load
from media.models import Asset
from tests import make
from tests.imports.command import call_import

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]


def link(kind: str, id_: str) -> dict[str, Any]:
    return {"sys": {"type": "Link", "linkType": kind, "id": id_}}


def text(words: str, *marks: str) -> dict[str, Any]:
    return {
        "nodeType": "text",
        "value": words,
        "marks": [{"type": one} for one in marks],
        "data": {},
    }


def node(kind: str, *content: Any, **data: Any) -> dict[str, Any]:
    return {"nodeType": kind, "data": data, "content": list(content)}


def entry(id_: str, type_: str, published: int | None = 3, **fields: Any) -> dict[str, Any]:
    sys: dict[str, Any] = {"id": id_, "type": "Entry", "contentType": link("ContentType", type_)}
    if published:
        sys["publishedVersion"] = published
    return {"sys": sys, "metadata": {"tags": [link("Tag", "tea")]}, "fields": fields}


BODY = node(
    "document",
    node("heading-2", text("Water")),
    node(
        "paragraph",
        text("Read "),
        node("entry-hyperlink", text("the other", "bold"), target=link("Entry", "b")),
        text(" and "),
        node("hyperlink", text("that"), uri="https://else.example/"),
        text("."),
    ),
    node("embedded-asset-block", target=link("Asset", "pic")),
    node("embedded-entry-block", target=link("Entry", "box")),
    node("unordered-list", node("list-item", node("paragraph", text("First")))),
    node("table", node("table-row", node("table-cell", node("paragraph", text("Cell"))))),
)
SPACE = {
    "contentTypes": [
        {
            "sys": {"id": "article"},
            "displayField": "headline",
            "fields": [
                {"id": "headline", "type": "Symbol"},
                {"id": "slug", "type": "Symbol"},
                {"id": "body", "type": "RichText"},
                {"id": "image", "type": "Link"},
            ],
        },
        {
            "sys": {"id": "box"},
            "displayField": "name",
            "fields": [{"id": "name", "type": "Symbol"}, {"id": "words", "type": "Text"}],
        },
    ],
    "locales": [{"code": "en-US", "default": True}, {"code": "de-DE"}, {"code": "fr"}],
    "tags": [{"sys": {"id": "tea"}, "name": "Tea"}],
    "assets": [
        {
            "sys": {"id": "pic"},
            "fields": {
                "title": {"en-US": "A kettle"},
                "file": {
                    "en-US": {
                        "url": "//images.example/x/kettle.png",
                        "fileName": "kettle.png",
                        "contentType": "image/png",
                    }
                },
            },
        }
    ],
    "entries": [
        entry(
            "a",
            "article",
            headline={"en-US": "Tea", "de-DE": "Tee", "fr": "Thé"},
            slug={"en-US": "tea", "de-DE": "tee"},
            body={"en-US": BODY, "de-DE": node("document", node("paragraph", text("Wasser")))},
            image={"en-US": link("Asset", "pic")},
        ),
        entry("b", "article", None, headline={"en-US": "Other"}, body={"en-US": node("document")}),
        {
            **entry("c", "article", headline={"en-US": "Gone"}),
            "sys": {**entry("c", "article")["sys"], "archivedVersion": 4},
        },
        entry("box", "box", name={"en-US": "Mind this"}, words={"en-US": "Hot water."}),
    ],
}


def run(folder: Path, space: Any = SPACE, **options: Any) -> str:
    path = folder / "space.json"
    path.write_text(json.dumps(space))
    out = StringIO()
    call_import("contentful", str(path), stdout=out, stderr=out, **options)
    return out.getvalue()


def test_a_space_becomes_drafts_in_each_language(tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "kettle.png").write_bytes(make.picture())

    said = run(tmp_path, media=str(tmp_path / "media"))

    posts = {post.path: post for post in Post.objects.all()}
    assert set(posts) == {"/blog/tea", "/de/blog/tee", "/blog/other"}
    assert posts["/blog/tea"].translation_group == posts["/de/blog/tee"].translation_group
    assert {post.status for post in posts.values()} == {"draft"}
    assert posts["/blog/tea"].featured_media == Asset.objects.get()
    assert Asset.objects.get().alt_text == "A kettle"
    assert set(posts["/blog/tea"].post_terms.values_list("term__name", flat=True)) == {"Tea"}
    content = json.dumps([one.props for one in load(posts["/blog/tea"]).modules])
    for words in (
        "Water",
        "/blog/other",
        "https://else.example/",
        "kettle",
        "Mind this",
        "Hot water.",
    ):
        assert words in content, words
    assert '"type": "table"' in content
    assert "/contentful-entry/" not in content
    for words in ("archived", "a draft in the source", "embedded entry of type box (1)", "fr: "):
        assert words in said, words

    again = run(tmp_path, media=str(tmp_path / "media"))

    assert "posts: 3 unchanged" in again
    assert Post.objects.count() == 3


@pytest.mark.parametrize("space", [[], {}, {"entries": 3}, {"entries": [{"sys": 3, "fields": []}]}])
def test_what_is_no_space_is_refused(tmp_path, space):
    with pytest.raises(CommandError):
        run(tmp_path, space)
    assert Post.objects.count() == 0
