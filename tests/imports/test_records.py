"""CSV, JSON, Directus and Strapi: a mapping says which value fills which field."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from content.models import Post
from content.posts.post_repository import load
from media.models import Asset
from proofroom.definitions.richtext.nodes import to_text
from proofroom.imports.models import ImportLine
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def admin() -> None:
    make.user("admin")


def run(source: str, path: Path, **options: Any) -> str:
    out = StringIO()
    call_command("import", source, str(path), stdout=out, stderr=out, **options)
    return out.getvalue()


def mapping(folder: Path, **values: str) -> str:
    path = folder / "mapping.json"
    path.write_text(json.dumps(values))
    return str(path)


def words(post: Post) -> str:
    return to_text(load(post).modules[0].props["content"])


def test_rows_of_csv_become_posts_by_a_mapping(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text(
        "Nr;Überschrift;Text;Wörter\n1;Erste;<p>Hallo <b>Welt</b></p>;tea, coffee\n2;;leer;\n3;Dritte;x;\n",
        encoding="cp1252",
    )

    said = run(
        "csv",
        path,
        mapping=mapping(tmp_path, id="Nr", title="Überschrift", body="Text", tags="Wörter"),
    )

    assert set(Post.objects.values_list("path", flat=True)) == {"/blog/erste", "/blog/dritte"}
    first = Post.objects.get(slug="erste")
    assert words(first) == "Hallo Welt"
    assert set(first.post_terms.values_list("term__name", flat=True)) == {"tea", "coffee"}
    assert "Record 2: No title" in said
    assert "2 unchanged" in run(
        "csv",
        path,
        mapping=mapping(tmp_path, id="Nr", title="Überschrift", body="Text", tags="Wörter"),
    )


def test_objects_of_json_are_found_at_a_place(tmp_path):
    media = tmp_path / "media"
    media.mkdir()
    (media / "a.png").write_bytes(make.picture())
    path = tmp_path / "data.json"
    records = [
        {"id": 7, "head": {"title": "One"}, "text": "# Big\n\n*word*", "pic": {"url": "/x/a.png"}},
        "no object",
        {"id": 8, "head": {"title": "Two"}, "text": None},
    ]
    path.write_text(json.dumps({"result": {"rows": records}}))

    run(
        "json",
        path,
        media=str(media),
        mapping=mapping(
            tmp_path,
            items="result.rows",
            title="head.title",
            body="text",
            image="pic",
            format="markdown",
        ),
    )

    one = Post.objects.get(title="One")
    assert words(one) == "Big\n\nword"
    assert one.featured_media == Asset.objects.get()
    assert Post.objects.filter(title="Two").exists()


def test_what_does_not_fit_says_why(tmp_path):
    path = tmp_path / "data.json"
    for content, values, text in (
        ("{", {}, "not valid JSON"),
        ("3", {}, "no list of objects"),
        ('[{"x": 1}]', {}, "which column is the title"),
        ('[{"x": 1}]', {"titel": "x"}, "uses 'titel'"),
        ('[{"title": "x"}]', {"format": "pdf"}, "text format"),
        ("[" * 100_000, {}, "nested too deep|not valid JSON"),
    ):
        path.write_text(content)
        with pytest.raises(CommandError, match=text):
            run("json", path, mapping=mapping(tmp_path, **values))
    assert Post.objects.count() == 0


def test_entries_of_strapi_come_without_their_wrappers(tmp_path):
    path = tmp_path / "articles.json"
    blocks = [
        {"type": "heading", "level": 2, "children": [{"type": "text", "text": "Head"}]},
        {"type": "list", "format": "unordered", "children": [
            {"type": "list-item", "children": [{"type": "text", "text": "Point", "bold": True}]}]},
    ]  # fmt: skip
    four = {"id": 1, "attributes": {"title": "Four", "content": "**Strong**", "tags": {"data": [
        {"id": 5, "attributes": {"name": "Tea"}}]}}}  # fmt: skip
    five = {"id": 2, "documentId": "abc", "title": "Five", "content": blocks}
    path.write_text(json.dumps({"data": [four, five]}))

    run("strapi", path)

    assert words(Post.objects.get(title="Four")) == "Strong"
    assert Post.objects.get(title="Four").post_terms.get().term.name == "Tea"
    assert words(Post.objects.get(title="Five")) == "Head\n\nPoint"


def test_items_of_directus_come_in(tmp_path):
    path = tmp_path / "articles.json"
    path.write_text(
        json.dumps([{"id": 1, "title": "One", "content": "<h2>A</h2><script>x()</script>"}])
    )

    run("directus", path)

    assert words(Post.objects.get()) == "A"
    assert not ImportLine.objects.filter(severity="error").exists()
