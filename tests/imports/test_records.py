"""CSV, JSON, Directus and Strapi, with a mapping of values to fields."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from django.core.management import CommandError

from content.models import Post
from content.store.post_repository import load
from media.models import Asset
from proofroom.definitions.richtext.nodes import to_text
from proofroom.taxonomies.models import Term
from proofroom_apps.imports.models import ImportLine
from proofroom_apps.imports.record_files import read_csv
from tests import make
from tests.imports.importing import run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]


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
    assert "Line 3: No title" in said
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


def test_the_text_of_csv_comes_whole_whatever_its_quotes(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    rows = [
        ["id", "title", "body"],
        *([str(n), f"Row {n}", f"number {n}, with 'commas', and words"] for n in range(20)),
        ["98", "Lines", "first\nsecond, third"],
        ["99", "Quoted", 'He said "yes, indeed" to me, and "no", and left; it\'s | true'],
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)

    run("csv", path)

    assert Post.objects.count() == 22
    assert words(Post.objects.get(title="Quoted")) == rows[-1][2]
    assert words(Post.objects.get(title="Lines")) == "first\nsecond, third"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_and_encodings_are_found_at_the_header(encoding: str, delimiter: str) -> None:
    with NamedTemporaryFile(suffix=".csv") as file:
        path = Path(file.name)
        text = '"a,b;c|d";title;body\n1;Größe;"a, b"\n'.replace(";title;body", "#title#body")
        text = text.replace("1;Größe;", "1#Größe#").replace("#", delimiter)
        path.write_bytes(text.encode(encoding))

        found = read_csv(path)

    assert found.records == [{"a,b;c|d": "1", "title": "Größe", "body": "a, b"}]
    assert found.remarks == []


def test_cells_that_no_column_names_are_errors_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text(
        "id,title,body,\n1,One,Hello, world and everyone\n\n2,Two,plain,,\n3,Three\n4,a,b,c\n"
    )

    said = run("csv", path, dry_run=True)

    assert Post.objects.count() == 0
    for line in (
        "Line 2: Skipped: a cell contains text, but its column has no header.",
        "Line 6: Skipped: a cell contains text",
        "items: 2 failed",
    ):
        assert line in said
    run("csv", path)
    assert set(Post.objects.values_list("title", flat=True)) == {"Two", "Three"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("id,title,body,body\n1,One,a,b\n", "Line 1: two columns are named body"),
        ('id,title\n1,One\n2,"Two" and\n', "line 3"),
        ('id,title\n1,"One\n2,Two\n', "line 2"),
    ],
)
def test_csv_that_is_ambiguous_stores_nothing(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "posts.csv"
    path.write_text(content)
    with pytest.raises(CommandError, match=sentence):
        run("csv", path)
    assert Post.objects.count() == 0


def test_records_without_an_id_are_known_by_their_slug_or_title(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text("title,slug,body\nAlpha,alpha,about alpha\nBeta,,about beta\n")
    assert "recognised by their slug, or by their title" in run("csv", path)
    path.write_text(
        "title,slug,body\nNew,new,about new\nBeta,,about beta\nAlpha,alpha,about alpha\n"
    )

    said = run("csv", path, live=True)

    assert "posts: 1 created, 2 unchanged" in said
    found = {post.title: words(post) for post in Post.objects.all()}
    assert found == {"Alpha": "about alpha", "Beta": "about beta", "New": "about new"}
    path.write_text("title,slug,body\nNew,new,x\nNew,new,y\n")
    assert "Another item of the source has the same ID" in run("csv", path, dry_run=True)


def test_what_nothing_is_made_of_is_named(tmp_path: Path) -> None:
    path = tmp_path / "posts.json"
    record = {"id": 1, "title": "One", "second_body": "words", "locale": "xx-YY", "sort": "first"}
    path.write_text(json.dumps([record, "a text", {"id": 2, "title": "Two", "empty": None}]))

    said = run("json", path)

    for part in (
        "Columns: Not used: second_body (1).",
        "does not have the language xx-YY; the post is in English",
        "orderIndex cannot store first",
        "Record 2: It is not an object; skipped.",
        "Records are recognised by id",
    ):
        assert part in said
    assert "empty" not in said


def test_two_files_of_one_name_are_two_sources(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        record = {"id": 1, "title": f"From {folder}", "body": folder}
        (tmp_path / folder / "export.json").write_text(json.dumps([record]))
        run("json", tmp_path / folder / "export.json")

    assert set(Post.objects.values_list("title", flat=True)) == {"From a", "From b"}


EDITORS: list[tuple[Any, str]] = [
    (
        {"time": 1, "blocks": [
            {"type": "header", "data": {"text": "Head", "level": 2}},
            {"type": "paragraph", "data": {"text": "A <b>bold</b> word"}},
            {"type": "list", "data": {"style": "ordered", "items": ["one", {"content": "two", "items": ["deep"]}]}},
            {"type": "table", "data": {"content": [["c1", "c2"]]}},
            {"type": "poll", "data": {"question": "Tea?", "options": ["yes"]}},
        ]},
        "Head A bold word one two deep c1 c2 Tea? yes",
    ),
    (
        {"type": "doc", "content": [
            {"type": "heading", "attrs": {"level": 3}, "content": [{"type": "text", "text": "Head"}]},
            {"type": "bulletList", "content": [{"type": "listItem", "content": [
                {"type": "paragraph", "content": [{"type": "text", "text": "item", "marks": [{"type": "bold"}]}]}]}]},
        ]},
        "Head item",
    ),
    (
        {"root": {"type": "root", "children": [
            {"type": "heading", "tag": "h2", "children": [{"type": "text", "text": "Head", "format": 1}]},
            {"type": "paragraph", "children": [
                {"type": "link", "fields": {"url": "https://x.example"},
                 "children": [{"type": "text", "text": "link"}]},
            ]},
        ]}},
        "Head link",
    ),
    (
        [
            {"_type": "block", "style": "h2", "children": [{"_type": "span", "text": "Head"}]},
            {"_type": "block", "listItem": "bullet", "children": [{"_type": "span", "text": "a"}]},
            {"_type": "block", "listItem": "bullet", "markDefs": [{"_key": "k", "href": "https://x.example"}],
             "children": [{"_type": "span", "text": "b", "marks": ["k", "strong"]}]},
        ],
        "Head a b",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "text"), EDITORS, ids=["editorjs", "prosemirror", "lexical", "portable"]
)
def test_rich_text_of_other_editors_keeps_its_words(tmp_path: Path, body: Any, text: str) -> None:
    path = tmp_path / "posts.json"
    path.write_text(json.dumps([{"id": 1, "title": "One", "body": body}]))

    said = run("directus", path)

    assert " ".join(words(Post.objects.get()).replace("|", " ").split()) == text
    assert ("block poll" in said) == ("poll" in json.dumps(body))


def test_what_is_not_read_of_objects_is_named(tmp_path):
    path = tmp_path / "posts.json"
    entry = {
        "attributes": {"title": "One", "text": "kept", "lead": "lost", "deep": {"more": "lost"}},
        "tag": {"name": "solo"},
    }
    path.write_text(json.dumps({"posts": [entry], "authors": [{"name": "somebody"}]}))

    said = run(
        "json",
        path,
        mapping=mapping(tmp_path, title="attributes.title", body="attributes.text", tags="tag"),
    )

    assert Term.objects.filter(name="solo").exists()
    assert words(Post.objects.get()) == "kept"
    assert "attributes.lead (1)" in said
    assert "attributes.deep (1)" in said
    assert "Not read: the list authors." in said


def test_json_lines_may_contain_any_line_separator(tmp_path):
    path = tmp_path / "posts.jsonl"
    lines = [{"title": "One", "body": "a\u2028b"}, {"title": "Two", "body": "c"}]
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines))

    run("json", path)

    assert set(Post.objects.values_list("title", flat=True)) == {"One", "Two"}


def test_nothing_of_a_record_is_left_out_in_silence(tmp_path: Path) -> None:
    media = tmp_path / "media"
    media.mkdir()
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        (media / name).write_bytes(make.picture(colour=colour))
    anna = make.user("editor", "anna.writes")
    path = tmp_path / "posts.json"
    record = {
        "id": {"nothing": "known"},
        "title": {"rendered": "One"},
        "slug": {"_type": "slug", "current": "first"},
        "body": '<!-- A note --><p>Text</p><script>x()</script><img src="data:image/png;base64,AAAA">',
        "author": [{"name": "Anna", "email": anna.email, "bio": "Writes"}, {"name": "Bo"}],
        "image": [
            {"url": "/a.png", "alt": "First"},
            {"url": "/b.png", "alt": "Second"},
            {"ref": 7},
        ],
        "tags": [{"tags_id": {"name": "Tea"}}, {"label": "Cup"}, {"colour": "red"}, True],
        "locale": {"dialect": 3},
        "parent": ["9"],
        "oldPath": "https://else.example/one",
        "_rev": "3-x",
    }
    path.write_text(json.dumps([record]))

    said = run("json", path, media=str(media))

    post = Post.objects.get(title="One")
    assert (post.slug, post.author, words(post)) == ("first", anna, "Text")
    assert set(post.post_terms.values_list("term__name", flat=True)) == {"Tea", "Cup"}
    assert post.featured_media == Asset.objects.get(alt_text="First")
    assert Asset.objects.filter(alt_text="Second").exists()
    for part in (
        'id cannot store {"nothing": "known"}',
        "image takes only one file. These are only in the media library: /b.png",
        'image cannot store {"ref": 7}',
        'tags cannot store {"colour": "red"}',
        "tags cannot store true",
        'locale cannot store {"dialect": 3}',
        'parent cannot store ["9"]',
        "oldPath cannot store https://else.example/one",
        "Author in the source: Bo.",
        "author.bio (1)",
        "_rev (1)",
        "comment <!-- … --> (1), element <script> (1), picture without an address of its own (1)",
    ):
        assert part in said, part
    assert "author’s email address" not in said


def test_an_author_without_an_address_is_named(tmp_path: Path) -> None:
    path = tmp_path / "posts.json"
    authors: list[Any] = ["Bo", {"username": "cy"}, 7, "Di <di@else.example>", {"odd": [1]}]
    records = [{"id": n, "title": f"Post {n}", "author": one} for n, one in enumerate(authors)]
    path.write_text(json.dumps(records))

    said = run("json", path)

    for part in (
        "Author in the source: Bo.",
        "Author in the source: cy.",
        "Author in the source: 7.",
        "No account has the author’s email address di@else.example",
        'author cannot store {"odd": [1]}',
    ):
        assert part in said, part
