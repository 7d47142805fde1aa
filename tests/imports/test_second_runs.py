"""A second run changes only values of the source written by the import; in Review by default."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from content.models import Draft, Post
from content.posts.edit import edit_post
from media.models import Asset
from media.services.update import update_asset
from proofroom.taxonomies.models import Term
from proofroom_apps.imports.models import ImportedObject
from tests import make
from tests.imports.command import call_import
from tests.imports.test_wordpress import HEAD, TAIL, attachment, item

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("admin")]


def run(path: Path, record: dict[str, Any], **options: Any) -> str:
    path.write_text(json.dumps([{"id": 1, "title": "Anna", **record}]))
    out = StringIO()
    call_import("json", str(path), stdout=out, stderr=out, fetch=False, **options)
    return out.getvalue()


@pytest.mark.parametrize("live", [False, True])
def test_custom_fields_that_people_changed_stay(tmp_path: Path, live: bool) -> None:
    path = tmp_path / "a.json"
    run(path, {"role": "Roaster", "email": "old@example.com"}, type="profile")
    post = Post.objects.get()
    make.edited(post, {"customFields": {"role": "Edited here"}})

    run(path, {"role": "Roaster", "email": "new@example.com"}, type="profile", live=live)

    post.refresh_from_db()
    wanted = make.layers(post).live if live else make.layers(post).review.document
    assert wanted.fields["customFields.role"] == "Edited here"
    assert wanted.fields["customFields.email"] == "new@example.com"
    assert post.custom_fields["email"] == ("new@example.com" if live else "old@example.com")


@pytest.mark.parametrize("live", [False, True])
def test_terms_that_people_chose_stay(tmp_path: Path, live: bool) -> None:
    path = tmp_path / "a.json"
    run(path, {"tags": ["x", "y"]})
    post = Post.objects.get()
    mine = make.term("Mine", "tags")
    edit_post(
        post_id=post.pk,
        actor=make.actor("editor"),
        edit=lambda one: one.with_terms([*one.taxonomy_term_ids, str(mine.pk)]),
    )

    run(path, {"tags": ["y", "z"]}, live=live)

    document = make.layers(post).live if live else make.layers(post).review.document
    names = Term.objects.filter(pk__in=document.taxonomy_term_ids).values_list("name", flat=True)
    assert set(names) == {"Mine", "y", "z"}
    if not live:
        assert set(post.post_terms.values_list("term__name", flat=True)) == {"Mine", "x", "y"}


def test_a_field_that_the_source_no_longer_fills_is_proposed_to_be_emptied(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    whole = {"excerpt": "Short", "metaTitle": "Search", "order": 5, "role": "Roaster"}
    run(path, whole, type="profile")
    post = Post.objects.get()
    make.edited(post, {"metaTitle": "Edited here"})

    run(path, {}, type="profile")

    post.refresh_from_db()
    document = make.layers(post).review.document
    assert (post.excerpt, post.order_index) == ("Short", 5)
    assert (document.fields["excerpt"], document.fields["orderIndex"]) == ("", 0)
    assert document.fields["metaTitle"] == "Edited here"
    assert document.fields["customFields.role"] in ("", None)


def test_a_picture_that_is_missing_this_time_is_not_taken_away(tmp_path: Path) -> None:
    media = tmp_path / "media"
    media.mkdir()
    (media / "a.png").write_bytes(make.picture())
    path = tmp_path / "a.json"
    run(path, {"image": "a.png"}, media=str(media))
    (media / "a.png").rename(media / "b.png")

    run(path, {"image": "c.png"}, media=str(media))

    assert Post.objects.get().featured_media_id
    assert not Draft.objects.filter(is_empty=False).exists()


def folder_run(folder: Path, **options: Any) -> list[str]:
    out = StringIO()
    call_import("markdown", str(folder), stdout=out, stderr=out, **options)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("live", [False, True])
def test_a_picture_that_changed_under_its_name_comes_in_beside_the_old_one(
    tmp_path: Path, live: bool
) -> None:
    (tmp_path / "pic.png").write_bytes(make.picture())
    (tmp_path / "a.md").write_text("---\nimage: pic.png\n---\n# A\n\n![alt](pic.png)")
    folder_run(tmp_path)
    post, old = Post.objects.get(), Asset.objects.get()
    (tmp_path / "pic.png").write_bytes(make.picture(colour="red"))

    tried = folder_run(tmp_path, live=live, dry_run=True)
    assert "files: 1 updated" in tried[-1]
    assert Asset.objects.get() == old
    said = folder_run(tmp_path, live=live)

    new = Asset.objects.exclude(pk=old.pk).get()
    outcome = "updated" if live else "staged"
    assert said[-1] == f"files: 1 updated; posts: 1 {outcome}."
    post.refresh_from_db()
    document = make.layers(post).live if live else make.layers(post).review.document
    assert document.fields["featuredMediaId"] == str(new.pk)
    assert new.file.name in str(document.modules[0].props)
    assert post.featured_media_id == (new.pk if live else old.pk)
    assert folder_run(tmp_path, live=live)[-1] == "posts: 1 unchanged."


def test_texts_of_a_file_that_changed_in_the_source_are_changed_live_only(tmp_path: Path) -> None:
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "one.jpg").write_bytes(make.picture())

    def imported(alt: str, **options: Any) -> str:
        file = attachment(20, "one.jpg").replace("Alt of one.jpg", alt)
        path = tmp_path / "export.xml"
        path.write_text(HEAD + item(1, "One", "Text") + file + TAIL)
        out = StringIO()
        media = str(tmp_path / "up")
        call_import("wordpress", str(path), stdout=out, stderr=out, media=media, **options)
        return out.getvalue()

    imported("First")
    assert "files: 1 skipped" in imported("Second")
    assert Asset.objects.get().alt_text == "First"
    assert "files: 1 updated" in imported("Second", live=True)
    assert Asset.objects.get().alt_text == "Second"
    update_asset(asset_id=Asset.objects.get().pk, alt_text="Mine", actor=make.actor("editor"))
    imported("Third", live=True)
    assert Asset.objects.get().alt_text == "Mine"


@pytest.mark.parametrize("names", [("Case.md", "case.md"), ("media.md", "x.md")])
def test_a_post_whose_slug_has_a_number_is_known_again_where_the_import_is_not(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    for number, name in enumerate(names):
        (tmp_path / name).write_text(f"# Title {number}\n\nText {number}.")
    folder_run(tmp_path)
    before = sorted(Post.objects.values_list("path", flat=True))
    assert [path for path in before if path.endswith("-2")]
    ImportedObject.objects.all().delete()  # as in a clone, whose archive holds none of it

    said = folder_run(tmp_path)

    assert said[-1] == "posts: 2 unchanged."
    assert sorted(Post.objects.values_list("path", flat=True)) == before


def test_another_post_at_a_slug_with_a_number_is_not_taken_for_the_same(tmp_path: Path) -> None:
    mine = make.post("Mine", type="page", slug="case-2")
    (tmp_path / "Case.md").write_text("# One")
    (tmp_path / "case.md").write_text("# Two")

    folder_run(tmp_path)

    assert Post.objects.count() == 3
    assert not Draft.objects.filter(is_empty=False).exists()
    assert Post.objects.get(title="Mine").pk == mine.pk
