"""A real export of Directus 11 becomes posts in both languages, with topics, files and their descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
from django.core.management import CommandError

from content.models import Post
from content.store.post_repository import load
from media.models import Asset
from proofroom.core.errors import RuleViolation
from proofroom_apps.imports.directus_export import DirectusExport, Relation, read_export
from proofroom_apps.imports.models import ImportRun
from tests import make
from tests.imports.command import call_import

pytestmark = pytest.mark.django_db
EXPORTS: Final = Path(__file__).parent / "exports"
"""Written by Directus 11.3.5: `?export=json`, `?export=csv` and the snapshot of the schema."""


@pytest.fixture(autouse=True)
def admin() -> None:
    make.user("admin")


def run(path: Path, **options: Any) -> str:
    out = StringIO()
    call_import("directus", str(path), stdout=out, stderr=out, **options)
    return out.getvalue()


def test_a_folder_of_collections_comes_in_with_its_relations() -> None:
    said = run(EXPORTS / "directus", fetch=False)

    posts = {(post.locale, post.slug): post for post in Post.objects.all()}
    assert set(posts) == {("en", "pour-slowly"), ("de", "pour-slowly"), ("en", "soft-water")}
    english, german = posts["en", "pour-slowly"], posts["de", "pour-slowly"]
    assert (english.title, german.title) == ("Pour slowly", "Langsam gießen")
    assert german.excerpt == "Warum der Wasserstrahl dünn sein soll."
    assert english.translation_group == german.translation_group
    assert posts["en", "soft-water"].translation_group != english.translation_group
    assert set(english.post_terms.values_list("term__name", flat=True)) == {"Pour over", "Water"}
    assert {asset.alt_text for asset in Asset.objects.all()} == {
        "A steel kettle with a thin spout",
        "A white cup on a saucer",
    }
    assert english.featured_media == Asset.objects.get(alt_text__startswith="A steel")
    document = load(german)
    blocks = document.modules[0].props["content"]["content"]
    assert [block["type"] for block in blocks] == [
        "heading",
        "paragraph",
        "paragraph",
        "bulletList",
    ]
    assert "/media/" in str(blocks[2])
    assert "Its status in the source: draft." in said
    assert "posts: 3 created" in said


def test_a_second_run_changes_nothing() -> None:
    run(EXPORTS / "directus", fetch=False)
    run(EXPORTS / "directus", fetch=False)

    counts = ImportRun.objects.latest("created_at").counts
    assert {outcome for kind in counts.values() for outcome in kind} == {"unchanged"}


def test_one_file_with_nested_fields_needs_no_folder() -> None:
    run(EXPORTS / "directus-guides.json", fetch=False, media=str(EXPORTS / "directus/uploads"))

    assert set(Post.objects.values_list("title", flat=True)) == {
        "Pour slowly",
        "Langsam gießen",
        "Soft water",
    }
    assert Asset.objects.filter(alt_text="A steel kettle with a thin spout").exists()


def test_keys_of_items_outside_of_the_export_are_no_terms(tmp_path: Path) -> None:
    (tmp_path / "news.csv").write_text('id,title,body,topics\n1,A,a,"[1,2]"\n2,B,b,\n')
    said = run(tmp_path / "news.csv")

    assert "Refers to items that are not in the export, left out: topics (1)." in said
    assert not Post.objects.get(title="A").post_terms.exists()


def test_a_csv_of_ids_alone_has_no_titles() -> None:
    with pytest.raises(CommandError, match="which column is the title"):
        run(EXPORTS / "directus-guides.csv")


def test_a_folder_of_too_many_bytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("posts", "others"):
        (tmp_path / f"{name}.json").write_text(
            json.dumps([{"id": 1, "title": "Tea", "body": "x" * 700}])
        )
    read_export(tmp_path, "posts")
    monkeypatch.setattr("proofroom_apps.imports.directus_export.LARGEST_FILE", 1000)

    with pytest.raises(RuleViolation, match="together larger"):
        read_export(tmp_path, "posts")


def test_a_folder_without_a_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "topics.json").write_text('[{"id": 1, "name": "Water"}]')
    with pytest.raises(CommandError, match="no collection with a title and a text"):
        run(tmp_path)


def test_other_collections_are_named_and_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "news.json").write_text(
        '[{"id": 1, "title": "A", "body": "a"}, {"id": 2, "title": "B", "body": "b"}]'
    )
    (tmp_path / "pages.json").write_text('[{"id": 1, "title": "About", "body": "us"}]')
    (tmp_path / "broken.json").write_text("{")
    mapping = tmp_path / ".mapping.json"
    mapping.write_text('{"items": "pages"}')

    said = run(tmp_path)
    assert "Not read: the collection pages with 1 items." in said
    assert "broken.json" in said
    assert set(Post.objects.values_list("title", flat=True)) == {"A", "B"}

    run(tmp_path, mapping=str(mapping), type="page")
    assert Post.objects.get(type="page").title == "About"


def test_blocks_of_many_collections_become_their_texts(tmp_path: Path) -> None:
    (tmp_path / "stories.json").write_text('[{"id": 1, "title": "A", "blocks": [1, 2]}]')
    (tmp_path / "stories_blocks.json").write_text(
        '[{"id": 2, "stories_id": 1, "item": "7", "collection": "block_quote", "sort": 1},'
        ' {"id": 1, "stories_id": 1, "item": "3", "collection": "block_text", "sort": 2}]'
    )
    (tmp_path / "block_text.json").write_text('[{"id": 3, "body": "<p>Second</p>"}]')
    (tmp_path / "block_quote.json").write_text('[{"id": 7, "words": "First"}]')
    (tmp_path / "snapshot.json").write_text(
        '{"fields": [], "relations": [{"collection": "stories_blocks", "field": "stories_id", "related_collection":'
        ' "stories", "meta": {"one_field": "blocks", "junction_field": "item"}},'
        ' {"collection": "stories_blocks", "field": "item", "related_collection": null,'
        ' "meta": {"junction_field": "stories_id"}}]}'
    )

    said = run(tmp_path)

    words = str(load(Post.objects.get()).modules[0].props)
    assert 0 < words.index("First") < words.index("Second")
    assert "block block_quote (1)" in said


@contextmanager
def deep() -> Iterator[DirectusExport]:
    """Yield an export of which each item refers to itself."""
    rows: list[Any] = [{"id": "1", "title": "A", "body": "b", "parent": "1", "other": "1"}]
    relations = {("a", "parent"): Relation("a"), ("a", "other"): Relation("b")}
    yield DirectusExport({"a": rows, "b": rows}, ["1"], [], "a", relations)


def test_circles_of_relations_end() -> None:
    with deep() as export:
        [record] = export.records().records

    assert record["parent"] == "1"
    assert isinstance(record["other"], dict)


def test_files_of_another_directus_are_not_taken_for_ours(tmp_path: Path) -> None:
    id_ = uuid4()
    (tmp_path / "news.json").write_text(
        f'[{{"id": 1, "title": "A", "body": "<p><img src=\\"https://else.example/assets/{id_}\\"></p>"}}]'
    )
    said = run(tmp_path, fetch=False, site="https://cms.example.com")

    assert f"https://else.example/assets/{id_}" in said
